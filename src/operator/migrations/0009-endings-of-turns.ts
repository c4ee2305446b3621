import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { WAITING_MESSAGE_STEERS } from '../../work/runs/waiting-message-steers.function.js';

/** A turn ends in one round trip (reference §5). */
export class EndingsOfTurns1795305600009 extends ForwardMigration {
  readonly sql = WAITING_MESSAGE_STEERS;
}
