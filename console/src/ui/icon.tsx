import type { SVGProps } from 'react';
import { PATHS } from './icon-paths.ts';

export type IconName = keyof typeof PATHS;

/** Decorative unless it has a title: what a control does, its label says. */
export function Icon({
  name,
  size = 16,
  title,
  ...props
}: { name: IconName; size?: number; title?: string } & SVGProps<SVGSVGElement>) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      {...(title === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': title })}
      {...props}
    >
      {PATHS[name].map(([tag, attributes], index) => {
        const Tag = tag as 'path';
        return <Tag key={index} {...attributes} />;
      })}
    </svg>
  );
}
