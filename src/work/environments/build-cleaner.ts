import { Injectable, Logger } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { Database } from '../../platform/database/database.js';
import { BUILDS } from '../../resources/environments/build-job.js';
import { TaskPause } from '../../resources/tasks/task-pause.js';
import { ABANDONED, FORGET } from './builds.sql.js';
import { PreparedFolders } from './prepared-folders.js';

/** Ends builds that nobody makes any more, and forgets old ones. What those have stored goes a day later, with what snapshots have left. */
@Injectable()
export class BuildCleaner {
  private readonly logger = new Logger('Builds');

  constructor(
    private readonly database: Database,
    private readonly pauses: TaskPause,
    private readonly prepared: PreparedFolders,
  ) {}

  /** The worker of its last attempt was lost, or that attempt broke: the job is gone, and the tasks that wait are told. */
  @Chore({ every: 5_000 })
  async endAbandoned(): Promise<number> {
    const error = 'It was begun too often, and none of its workers has ended it.';
    const ended = await this.database.polling.run(ABANDONED({ queue: BUILDS, error }));
    for (const { id } of ended) {
      this.logger.error(`Build ${id}: ${error}`);
      await this.pauses.wakeAfterBuild(id);
    }
    return ended.length;
  }

  @Chore({ every: 60 * 60_000 })
  async forget(): Promise<number> {
    const gone = await this.database.polling.run(FORGET());
    for (const { id } of gone) await this.prepared.remove(id);
    return gone.length;
  }
}
