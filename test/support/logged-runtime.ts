import type { Clock } from '#util/clock.ts';
import { HomeostatLog, type LogEntry } from './homeostat-log.ts';
import type { HomeostatRuntime, RuntimeOptions } from './homeostat-runtime.ts';
import { RuntimeFolder } from './runtime-folder.ts';

/** What both sorts of runtimes share: their files, and what they log. */
export abstract class LoggedRuntime implements HomeostatRuntime {
  abstract readonly pid: number | undefined;
  abstract readonly clock: Clock;
  protected readonly folder: RuntimeFolder;
  protected readonly log = new HomeostatLog();

  constructor(options: RuntimeOptions) {
    this.folder = new RuntimeFolder(options);
  }

  abstract ended(): Promise<number | null>;
  abstract untilGone(): Promise<void>;
  abstract stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;

  write(name: string, text: string): void {
    this.folder.write(name, text);
  }

  remove(name: string): void {
    this.folder.remove(name);
  }

  get errors(): string {
    return this.log.errors;
  }

  get entries(): readonly LogEntry[] {
    return this.log.entries;
  }

  whenReady(definitions = 1): Promise<void> {
    return this.log.whenReady(definitions);
  }

  whenLogged(message: string): Promise<LogEntry> {
    return this.log.whenLogged(message);
  }

  whenLoggedTimes(message: string, times: number): Promise<void> {
    return this.log.whenLoggedTimes(message, times);
  }

  url(): Promise<string> {
    return this.log.url();
  }
}
