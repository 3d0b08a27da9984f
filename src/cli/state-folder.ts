import { homedir } from 'node:os';
import { join } from 'node:path';
import { CrashGuard, openBox } from '../runtime/index.ts';
import type { Logger } from '../telemetry/index.ts';
import type { Clock } from '../util/clock.ts';
import { failureFields } from '../util/failure-fields.ts';

export interface CrashGuardFlags {
  /** @default a folder of the user's state, see {@link defaultStateFolder} */
  readonly stateDir?: string;
}

/** Where a process keeps what only its successor on this machine needs: `$XDG_STATE_HOME/homeostat`, else `~/.local/state/homeostat`. */
function defaultStateFolder(): string {
  return join(process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'homeostat');
}

/** Opens the black box. Undefined: nothing can be written there, which is told; all goes on without. */
export function openCrashGuard(
  { stateDir = defaultStateFolder() }: CrashGuardFlags,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): CrashGuard | undefined {
  try {
    return new CrashGuard({ files: openBox(stateDir, process.pid), clock, logger });
  } catch (error) {
    const about = { ...failureFields(error), folder: stateDir };
    logger.warn(about, 'Nothing can be written there, crashes of definitions are not noted');
    return undefined;
  }
}
