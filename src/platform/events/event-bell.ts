import { Injectable } from '@nestjs/common';

/** Tells the handlers of this process that there may be new events, which they would find within a second by themselves. */
@Injectable()
export class EventBell {
  private readonly listeners: (() => void)[] = [];

  /** Called after the commit that wrote the event. It does not throw. */
  ring(): void {
    for (const listener of this.listeners) listener();
  }

  onRing(listener: () => void): void {
    this.listeners.push(listener);
  }
}
