import type { ComponentProps } from 'react';
import { downloadFile } from '../api/queries.ts';
import { Button } from './ui.tsx';

type Props = ComponentProps<typeof Button> & { file: { id: string; name: string } };

export const DownloadButton = ({ file, ...props }: Props) => (
  <Button small icon="Download" onClick={() => downloadFile(file)} {...props} />
);
