import type { Logger } from '#telemetry/roles.ts';
import { deepEqual } from '#util/deep-equal.ts';
import type { Rejection } from '../desired-definition.ts';
import type { Decision } from './decide.ts';
import type { DefinitionRecord } from './record.ts';

/** Logs once why the newest revision of a definition is rejected. */
export class RejectionLog {
  readonly #logger: Logger;
  /** By name: logged last. */
  readonly #logged = new Map<string, Rejection>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Errors of published manifests are logged when they are parsed. */
  log({ name, origin }: DefinitionRecord, decision: Decision): void {
    const found = rejectionIn(decision);
    const isNew = origin.source === 'object' || found?.revision !== undefined;
    const rejection = isNew ? found : undefined;
    if (deepEqual(rejection, this.#logged.get(name))) return;
    if (rejection === undefined) {
      this.#logged.delete(name);
      return;
    }
    this.#logged.set(name, rejection);
    const { message: reason, diagnostics } = rejection;
    const about = { definition: name, reason, ...(diagnostics.length > 0 && { diagnostics }) };
    const text =
      decision.kind === 'run'
        ? 'Change rejected, the active revision keeps running'
        : 'Definition rejected';
    this.#logger.warn(about, text);
  }

  forget(name: string): void {
    this.#logged.delete(name);
  }
}

function rejectionIn(decision: Decision): Rejection | undefined {
  if (decision.kind === 'run') return decision.desired.rejection;
  return decision.kind === 'finalize' ? decision.rejection : undefined;
}
