import type { Problem, ProblemReason } from '../failure.ts';
import type { Pass } from '../pass/pass.ts';
import { childText } from '../secrecy.ts';
import type { ChildEntry } from './child-entries.ts';

/**
 * Reasons of `Ready` (definition.md section 5). `ChildFailed`: a child of ours has failed by its own account;
 * `DeletionsHeld`: what a change of the definition takes from it waits for an approval.
 */
export type SummaryReason =
  | ProblemReason
  | 'ChildFailed'
  | 'DeletionsHeld'
  | 'Progressing'
  | 'Unstable'
  | 'Paused'
  | 'AllReady';

/** What the pass comes to, in one reason and one message. */
export interface Summary {
  readonly reason: SummaryReason;
  readonly message: string;
  /** Nothing goes on by itself: somebody has to do something. */
  readonly isStalled: boolean;
  /** Something is on its way, and nothing needs anybody. */
  readonly isReconciling: boolean;
}

/** The reason that is told when there are several: what needs somebody first comes first. */
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
  'Waiting',
  'Progressing',
  'Unstable',
];
const goesOnByItself: ReadonlySet<SummaryReason> = new Set<SummaryReason>([
  'Terminating',
  'KindMissing',
  'Waiting',
  'Progressing',
  'Unstable',
]);
/** So many findings are told in one message; `status.children` has the rest. */
const toldAtMost = 5;

interface Finding {
  readonly reason: SummaryReason;
  readonly message: string;
  readonly isTemporary: boolean;
}

/** Sums up the children and what else went wrong. `unrest`: why the resource runs again and again. */
export function summarise(
  entries: readonly ChildEntry[],
  problems: readonly Problem[],
  unrest: string | undefined,
): Summary {
  const findings = [
    ...problems.map(findingOfProblem),
    ...entries.flatMap(findingOfEntry),
    ...(unrest === undefined ? [] : [findingOfUnrest(unrest)]),
  ];
  const reason = order.find((each) => findings.some((finding) => finding.reason === each));
  if (reason === undefined) {
    const message = 'All children are ready';
    return { reason: 'AllReady', message, isStalled: false, isReconciling: false };
  }
  const isStalled = findings.some((each) => !goesOnByItself.has(each.reason) && !each.isTemporary);
  return {
    reason,
    message: tell(findings.filter((finding) => finding.reason === reason)),
    isStalled,
    // Never both: kstatus looks at Reconciling first, and would call "in progress" what waits for somebody.
    isReconciling: !isStalled,
  };
}

/** What stands in the way of reads, as far as it is more than their not being there. */
export function readProblems({ found: { reads } }: Pass): readonly Problem[] {
  return [...reads.values()].flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
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

function findingOfUnrest(message: string): Finding {
  return { reason: 'Unstable', message, isTemporary: false };
}

function tell(findings: readonly Finding[]): string {
  // Elements may fail alike: the same sentence is told once.
  const messages = [...new Set(findings.map(({ message }) => message))];
  const told = messages.slice(0, toldAtMost);
  const rest = messages.length - told.length;
  return rest > 0 ? `${told.join('; ')}; and ${rest} more` : told.join('; ');
}
