import type { Clock } from '#util/clock.ts';
import type { LogEntry } from './homeostat-log.ts';

export interface RuntimeOptions {
  /** File names and texts; written into a folder of the runtime. @default undefined: it reads no folder */
  readonly definitions?: Readonly<Record<string, string>>;
  /** Where the definitions are written; it outlives the runtime. @default a folder of its own */
  readonly folder?: string;
  /** The name of the runtime: one that starts again in a new folder continues with what the last one had. @default 'test' with definitions, else its own */
  readonly runtime?: string;
  readonly logLevel?: 'debug' | 'info';
  /** Flags of `homeostat run` besides. @default none */
  readonly flags?: readonly string[];
}

/** `homeostat run` from source, as a process of its own or within the test's. It does not outlive the test. */
export interface HomeostatRuntime {
  /** Undefined: it runs within the test's process. */
  readonly pid: number | undefined;
  /** Its time. */
  readonly clock: Clock;
  /** Writes a file of its folder of definitions, new or anew. */
  write(name: string, text: string): void;
  /** Removes a file of its folder. */
  remove(name: string): void;
  /** What it wrote on standard error: diagnostics. */
  readonly errors: string;
  readonly entries: readonly LogEntry[];
  /** Resolves when all its definitions run, are rejected or wait for their kind. @param definitions how many; default 1 */
  whenReady(definitions?: number): Promise<void>;
  /** Resolves with the first log line of that message. */
  whenLogged(message: string): Promise<LogEntry>;
  /** Resolves when there are so many log lines of that message. */
  whenLoggedTimes(message: string, times: number): Promise<void>;
  /** The base address of its health server. */
  url(): Promise<string>;
  /** Resolves with the exit code; null: it was killed. */
  ended(): Promise<number | null>;
  /** Resolves when nothing of it is left in any process: one that is killed within the test's still comes to its end. */
  untilGone(): Promise<void>;
  /** Asks it to stop, or kills it; resolves with the exit code. @param signal default SIGTERM */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}
