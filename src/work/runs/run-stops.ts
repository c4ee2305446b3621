import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { Database } from '../../platform/database/database.js';
import { Notices } from '../../platform/notices/notices.js';
import { STOPS } from './run-commands.sql.js';

/** Stops the commands of this process's runs that people stop: at once when the notice comes, and within a second when it is lost. */
@Injectable()
export class RunStops implements OnModuleInit {
  private readonly logger = new Logger(RunStops.name);
  /** By the id of a task that has commands here. */
  private readonly listening = new Map<string, (number: number) => void>();

  constructor(
    private readonly database: Database,
    private readonly notices: Notices,
  ) {}

  onModuleInit(): void {
    this.notices.on('commands', (taskId) => void this.look([taskId]));
  }

  /** For the engine of a task. */
  of(taskId: string): (stop: (number: number) => void) => () => void {
    return (stop) => {
      this.listening.set(taskId, stop);
      return () => {
        if (this.listening.get(taskId) === stop) this.listening.delete(taskId);
      };
    };
  }

  @Chore({ every: 1_000 })
  async lookForAll(): Promise<void> {
    await this.look([...this.listening.keys()]);
  }

  private async look(asked: string[]): Promise<void> {
    const taskIds = asked.filter((id) => this.listening.has(id));
    if (taskIds.length === 0) return;
    try {
      for (const { taskId, number } of await this.database.work.run(STOPS({ taskIds }))) {
        this.listening.get(taskId)?.(number);
      }
    } catch (error) {
      this.logger.warn(`Whether commands are to be stopped was not read: ${String(error)}`);
    }
  }
}
