import type { Writer } from '#kube/roles.ts';
import type { Clock } from '#util/clock.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { DefinitionOrigin } from '../desired-definition.ts';
import { flowOf, passTokenOf } from '../objects/names.ts';
import { type StatusReport, StatusReporter } from '../objects/status-reporter.ts';
import { liveStatus } from '../recorded-state.ts';
import type { RunningDefinition } from '../running/running-definition.ts';
import { startDelayMs } from '../start-delay.ts';
import type { StatusEvent } from '../view-part.ts';
import type { Decision } from './decide.ts';
import { factsOf } from './definition-facts.ts';
import {
  type DefinitionStatus,
  differsInCountsOnly,
  eventsBetween,
  hasStatus,
  statusOf,
} from './definition-status.ts';
import { type DefinitionRecord, recordOf } from './record.ts';

interface DefinitionReporterOptions {
  readonly cluster: Pick<Writer, 'apply'>;
  readonly clock: Clock;
  /** Called for changes of a definition's status. */
  readonly onEvent: (event: StatusEvent, object: KubeObject, origin: DefinitionOrigin) => void;
  /** The response of a write shows that another client has changed the object, too. */
  readonly onForeignChange: (name: string) => void;
}

/** A definition to report. */
interface Reported {
  readonly record: DefinitionRecord;
  /** As it was claimed. */
  readonly object: KubeObject;
  readonly decision: Decision;
  readonly running: RunningDefinition;
  /** What it shows, in all clusters. */
  readonly view: DefinitionView;
}

/** Minimum time between writes of counts. */
const countsMs = 1_000;
const limits = { burst: 5, refillMs: 1_000 };

/** Reports how far definitions are, in their statuses. A status stays as it is while what differs may only be a start. */
export class DefinitionReporter {
  readonly #clock: Clock;
  readonly #writer: StatusReporter<DefinitionStatus>;
  /** Definitions whose status this process has written, or has found as it should be. */
  readonly #reported = new Set<string>();

  constructor({ cluster, clock, onEvent, onForeignChange }: DefinitionReporterOptions) {
    this.#clock = clock;
    this.#writer = new StatusReporter<DefinitionStatus>({
      cluster,
      clock,
      limits,
      countsMs,
      onForeignChange,
      fieldManager: 'homeostat/operatordefinitions.status',
      writeOptionsOf: (name) => ({ flow: flowOf(name), pass: passTokenOf(name) }),
      hasStatus: (object, status, ignoresCounts) =>
        ignoresCounts ? differsInCountsOnly(object, status) : hasStatus(object, status),
      onWritten(before, status) {
        for (const event of eventsBetween(liveStatus(before), status))
          onEvent(event, before, recordOf(before).origin);
      },
    });
  }

  /** @returns undefined: the object is deleted, and a watch event follows. @throws KubeError */
  async report(reported: Reported, signal: AbortSignal): Promise<StatusReport | undefined> {
    const { record, object, decision, running, view } = reported;
    const facts = factsOf({ record, decision, view, report: running.report(view) });
    running.metrics.recordFacts(facts);
    const now = new Date(this.#clock.nowMs()).toISOString();
    const status = statusOf({ facts, object, now });
    const startMs = this.#startDelayMs(reported, status);
    if (startMs > 0) return { afterMs: startMs, object };
    const report = await this.#writer.report(object, status, signal);
    if (report?.afterMs === 0) {
      running.recordFailed(undefined);
      this.#reported.add(record.name);
    }
    return report;
  }

  forget(name: string): void {
    this.#writer.forget(name);
    this.#reported.delete(name);
  }

  #startDelayMs({ object, record, running, view }: Reported, status: DefinitionStatus): number {
    const { isRecorded, recordError, createdMs } = running;
    const isNew = conditionsOf(object).length === 0;
    if (isNew || !isRecorded || recordError !== undefined) return 0;
    return startDelayMs(view, {
      createdMs,
      nowMs: this.#clock.monotonicMs(),
      isOfEarlier: !this.#reported.has(record.name),
      changesCountsOnly: view.isCounting === true && differsInCountsOnly(object, status),
    });
  }
}
