import type { ReactNode } from 'react';
import own from './settings.module.css';

export const Section = ({
  title,
  about,
  action,
  children,
}: {
  title: string;
  about: string;
  action?: ReactNode;
  children: ReactNode;
}) => (
  <section className={own.section}>
    <header>
      <div className="grow">
        <h2>{title}</h2>
        <p>{about}</p>
      </div>
      {action}
    </header>
    {children}
  </section>
);
