import { Moment } from '../../platform/http/fields.js';

export class PauseTaskDto {
  @Moment('When the task goes on by itself, ahead of now; without it not before it is resumed.')
  resumeAt?: string;
}
