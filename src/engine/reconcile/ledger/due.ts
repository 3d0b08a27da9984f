import type { Due } from '#controller';
import type { Clock } from '#util/clock.ts';
import type { Random } from '#util/random.ts';
import type { DueEntry } from './entries.ts';
import { type Ledger, type LedgerContext, remainingMs } from './ledger.ts';

/** Part of `every` by which an interval is shortened at random, so that reconciles are spread. */
const jitter = 0.1;

/** The kinds of entries that run a resource at their time, whatever else runs it. A reconcile replaces those that it knows. */
const dueKinds = ['every', 'requeueAfter', 'timeout'] as const;
type DueKind = (typeof dueKinds)[number];

interface ScheduleContext extends LedgerContext {
  readonly context: LedgerContext['context'] & {
    readonly random: Random;
    readonly plan: {
      readonly definition: { readonly schedule?: { readonly everyMs?: number } };
    };
  };
}

/** A reconcile begins: the next one is due after `schedule.every`. */
export function scheduleNext(pass: ScheduleContext): void {
  const { random, plan } = pass.context;
  const everyMs = plan.definition.schedule?.everyMs;
  if (everyMs === undefined) return;
  setDue(pass, 'every', everyMs * (1 - jitter * random.fraction()), 'low');
}

/** Replaces the time at which the resource runs. Undefined: none. */
export function setDue(
  { context, state }: LedgerContext,
  kind: DueKind,
  afterMs: number | undefined,
  priority: DueEntry['priority'] = 'normal',
): void {
  if (afterMs === undefined) state.ledger.delete(kind);
  else state.ledger.set(kind, { untilMs: context.clock.monotonicMs() + afterMs, priority });
}

/** From then on only events run the resource. */
export function forgetDue(ledger: Ledger): void {
  for (const kind of dueKinds) ledger.delete(kind);
}

/** Removes the entries whose time has come. Returns the kind of one of them; undefined: there is none. */
export function takeDue(context: { readonly clock: Clock }, ledger: Ledger): DueKind | undefined {
  let taken: DueKind | undefined;
  for (const kind of dueKinds) {
    const entry = ledger.get(kind);
    if (entry === undefined || remainingMs({ context }, entry) > 0) continue;
    ledger.delete(kind);
    taken = kind;
  }
  return taken;
}

/** The earliest of the entries. Undefined: there is none. */
export function nextDue({ clock }: { readonly clock: Clock }, ledger: Ledger): Due | undefined {
  let next: DueEntry | undefined;
  for (const kind of dueKinds) {
    const entry = ledger.get(kind);
    if (entry !== undefined && entry.untilMs < (next?.untilMs ?? Infinity)) next = entry;
  }
  if (next === undefined) return undefined;
  return { afterMs: Math.max(0, next.untilMs - clock.monotonicMs()), priority: next.priority };
}
