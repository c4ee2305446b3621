import type { Readable } from 'node:stream';

/**
 * A file that a tool hands over to become a task file, or with `forModel` to be kept for the model alone: a result shows it
 * (`ForModel.files`). It is on record together with the tool's result, or not at all.
 */
export interface PublishedFile {
  /** UUIDv7, made by the tool, so that its output can name it. */
  id: string;
  name: string;
  /** Bytes, where they are known: for the words of a refusal. */
  size?: number;
  content: Readable;
  forModel?: true;
}
