import type { RenderedEvent } from '../../compile/index.ts';
import { limitRestText } from '../attempt/pace.ts';
import type { Problem } from '../failure.ts';
import { inventoryAfter } from '../ownership/inventory-after.ts';
import type { Pass } from '../pass/pass.ts';
import { isForeign } from '../status-fields.ts';
import { type ChildEntry, describeChildren } from './child-entries.ts';
import { authorConditions, type Condition, standardConditions } from './conditions.ts';
import { lastMapped, type MappedStatus, mapStatus } from './map-status.ts';
import { type ReportedWorld, startReporting } from './start-reporting.ts';
import { readProblems, type Summary, type SummaryReason, summarise } from './summary.ts';

/** `status.children` names so many; `status.childCounts` counts all. */
const listedAtMost = 100;

/** What a pass reports: the whole status that we mean, and what it was made of. */
export interface Report {
  readonly entries: readonly ChildEntry[];
  readonly mapped: MappedStatus;
  /** Conditions of the author's. */
  readonly conditions: readonly Condition[];
  /** What stands in the way of conditions, patches, Events and `requeueAfter`. */
  readonly furtherProblems: readonly Problem[];
  /** To be told when the status is written. */
  readonly events: readonly RenderedEvent[];
  /** @default undefined: no need to run again by itself */
  readonly requeueAfterMs?: number;
  readonly world: ReportedWorld;
  /** Everything that stands in the way, of children and of the rest. */
  readonly problems: readonly Problem[];
  /** Of the condition `Ready`. */
  readonly reason: SummaryReason;
  readonly status: Readonly<Record<string, unknown>>;
}

/** Looks at the world after the applies and says what it has come to. Sends nothing. */
export async function buildReport(pass: Pass): Promise<Report> {
  const world = startReporting(pass);
  const entries = await describeChildren(pass, world.phase);
  const mapped = await mapStatus(pass, world);
  const { conditions, problems } = await authorConditions(pass, world, mapped);
  return reportOf(pass, {
    entries,
    mapped,
    conditions,
    furtherProblems: problems,
    events: [],
    world,
  });
}

/** The report when the server does not take the author's fields: they keep their last values, and `Ready` says why. */
export function withoutMapped(pass: Pass, report: Report, why: Problem): Report {
  const problems = [...report.mapped.problems, why];
  const mapped = { fields: lastMapped(pass), problems };
  // They tell of a status that is not there.
  return reportOf(pass, { ...report, mapped, events: [] });
}

/** What a report is made of. */
export type ReportParts = Omit<Report, 'problems' | 'reason' | 'status'>;

/** Puts a report together. */
export function reportOf(pass: Pass, parts: ReportParts): Report {
  const { entries, mapped, conditions, furtherProblems } = parts;
  const { finalizerProblem } = pass.did;
  const problems = [
    ...readProblems(pass),
    ...(finalizerProblem === undefined ? [] : [finalizerProblem]),
    ...mapped.problems,
    ...furtherProblems,
  ];
  const summary = summariseWithRest(pass, entries, problems);
  const { resource, phaseInput, context } = pass;
  const listed = entries.filter(({ isListed }) => isListed);
  return {
    ...parts,
    problems: [...problems, ...entries.flatMap(({ problem }) => problem ?? [])],
    reason: summary.reason,
    status: isForeign(context.plan)
      ? { ...mapped.fields, ...(conditions.length === 0 ? {} : { conditions }) }
      : {
          ...mapped.fields,
          observedGeneration: resource.metadata.generation ?? 0,
          definitionRevision: context.plan.revision,
          conditions: [
            ...standardConditions({ resource, summary, now: phaseInput.now }),
            ...conditions,
          ],
          children: listChildren(listed),
          childCounts: countChildren(listed),
          ...recordOf(pass),
        },
  };
}

/** A resource that rests for what it costs says so: nothing else would tell that the next try takes a while. */
function summariseWithRest(
  { state, budget }: Pass,
  entries: readonly ChildEntry[],
  problems: readonly Problem[],
): Summary {
  const summary = summarise(entries, problems, state.attempts.pace.unrest);
  return budget.isExceeded
    ? { ...summary, message: `${summary.message}; ${limitRestText}` }
    : summary;
}

function recordOf(pass: Pass): { readonly childInventory?: readonly string[] } {
  const childInventory = inventoryAfter(pass);
  return childInventory === undefined ? {} : { childInventory };
}

/** `status.children`. */
export function listChildren(entries: readonly ChildEntry[]): readonly unknown[] {
  const isReady = ({ decision }: ChildEntry) => decision.state === 'Ready';
  const unreadyFirst = [...entries.filter((entry) => !isReady(entry)), ...entries.filter(isReady)];
  return unreadyFirst.slice(0, listedAtMost).map(({ decision, isNameless = false }) => {
    const { childId: id, apiVersion, kind, state, message } = decision;
    const { namespace, name } = isNameless ? nameless : decision;
    return { id, apiVersion, kind, namespace, name, state, message };
  });
}

const nameless = { namespace: '', name: '' };

/** `status.childCounts`. */
export function countChildren(entries: readonly ChildEntry[]) {
  const wanted = entries.filter(({ decision }) => decision.state !== 'Deleting');
  const inState = (state: string) =>
    wanted.filter(({ decision }) => decision.state === state).length;
  return { total: wanted.length, ready: inState('Ready'), failed: inState('Failed') };
}
