import type { Problem, ProblemReason } from '../failure.ts';
import { childText } from '../secrecy.ts';
import type { ChildEntry } from './child-entries.ts';

/**
 * Reasons of `Ready` (docs/definition/reporting.md#what-homeostat-always-writes). `ChildFailed`: the status of a child reports a failure.
 * `DeletionsHeld`: deletions of a changed definition wait for approval.
 */
export type SummaryReason =
  | ProblemReason
  | 'ChildFailed'
  | 'Progressing'
  | 'Unstable'
  | 'Paused'
  | 'AllReady';

/** The result of a pass in one reason and one message. */
export interface Summary {
  readonly reason: SummaryReason;
  readonly message: string;
  /** A user has to act: a retry does not help. */
  readonly isStalled: boolean;
  /** In progress, without a user's action. */
  readonly isReconciling: boolean;
}

/** Of several reasons the first one here is reported: those that need a user's action come first. */
const order: readonly SummaryReason[] = [
  'RenderFailed',
  'LimitReached',
  'Forbidden',
  'Conflict',
  'ApplyFailed',
  'Contested',
  'ChildFailed',
  'DeletionsHeld',
  'DefinitionBroken',
  'Terminating',
  'KindMissing',
  'ClusterUnreachable',
  'Waiting',
  'Progressing',
  'Unstable',
];
const selfResolving: ReadonlySet<SummaryReason> = new Set<SummaryReason>([
  'Terminating',
  'KindMissing',
  'ClusterUnreachable',
  'Waiting',
  'Progressing',
  'Unstable',
]);
/** Maximum number of messages in a condition; `status.children` has all of them. */
const maxMessages = 5;

interface Finding {
  readonly reason: SummaryReason;
  readonly message: string;
  readonly isTemporary: boolean;
}

/** Summarises children and other problems. `instability`: why the resource runs repeatedly. */
export function summarise(
  entries: readonly ChildEntry[],
  problems: readonly Problem[],
  instability: string | undefined,
): Summary {
  const findings = [
    ...problems.map(findingOfProblem),
    ...entries.flatMap(findingOfEntry),
    ...(instability === undefined ? [] : [findingOfInstability(instability)]),
  ];
  const reason = order.find((each) => findings.some((finding) => finding.reason === each));
  if (reason === undefined) {
    const message = 'All children are ready';
    return { reason: 'AllReady', message, isStalled: false, isReconciling: false };
  }
  const isStalled = findings.some((each) => !selfResolving.has(each.reason) && !each.isTemporary);
  return {
    reason,
    message: joinMessages(findings.filter((finding) => finding.reason === reason)),
    isStalled,
    // Never both: kstatus evaluates Reconciling first, and would report a stalled resource as in progress.
    isReconciling: !isStalled,
  };
}

function findingOfProblem({ reason, message, kind }: Problem): Finding {
  return { reason, message, isTemporary: kind === 'temporary' };
}

function findingOfEntry({ decision, about, reason, problem }: ChildEntry): readonly Finding[] {
  if (reason === undefined) return [];
  const { childId, name, message } = decision;
  const subject = childText(childId, name, about);
  const isTemporary = problem?.kind === 'temporary';
  return [{ reason, message: `${subject}: ${message}`, isTemporary }];
}

function findingOfInstability(message: string): Finding {
  return { reason: 'Unstable', message, isTemporary: false };
}

function joinMessages(findings: readonly Finding[]): string {
  // Elements may fail alike: each message appears once.
  const messages = [...new Set(findings.map(({ message }) => message))];
  const shown = messages.slice(0, maxMessages);
  const rest = messages.length - shown.length;
  return rest > 0 ? `${shown.join('; ')}; and ${rest} more` : shown.join('; ');
}
