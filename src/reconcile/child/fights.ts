import type { ChildPlan } from '../../compile/index.ts';
import { KubeError, type StoredObject } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { sha256Hex } from '../../util/sha256.ts';
import type { Problem } from '../failure.ts';
import { differences } from '../intent/covers.ts';
import type { Difference } from '../intent/difference.ts';
import { fieldName } from '../intent/field-names.ts';
import { type FieldSteps, holdsField, valueAtSteps } from '../intent/field-steps.ts';
import { appliedAnnotation, fieldManagerOf } from '../names.ts';
import { type Pass, worldWrite } from '../pass/pass.ts';
import { type Confidence, fieldTexts } from '../secrecy.ts';
import type { Intent } from './build-intent.ts';

/** What has been put back again and again. */
export interface Fight {
  /** What others had changed each time, by name. */
  readonly fields: ReadonlyMap<string, TakenField>;
  /** How often in a row. */
  readonly repairs: number;
  /** When it was put back last. Monotonic. */
  readonly repairedAtMs: number;
  /** Once it is a fight. */
  readonly truce?: Truce;
}

interface TakenField {
  readonly steps: FieldSteps;
  /** What we put there, shortened: not the intent itself, which would be kept for every object that was ever changed. */
  readonly want: string;
}

/** Others have a field, or may take it, until the time is over. */
interface Truce {
  readonly message: string;
  /** What was wanted when it began: what the user changes since is not held up by it. */
  readonly intent: Intent;
  readonly lengthMs: number;
  /** Monotonic. */
  readonly untilMs: number;
}

/** What is put back: a child, or what a patch sets. */
export interface Defended {
  readonly intent: Intent;
  readonly plan: Confidence & Pick<ChildPlan, 'type'>;
  /** Ours. @default that of the definition's children */
  readonly manager?: string;
}

/** So often in a row a field is put back at once. */
const repairsInARow = 5;
/** Repairs that are further apart are not of a row. */
const rowGapMs = 120_000;
const shortestTruceMs = 10_000;
const longestTruceMs = 300_000;

/** Was it put back before? Only then {@link contested} has anything to say. */
export function isFoughtFor({ state }: Pass, { intent }: Defended): boolean {
  return state.fights.has(intent.identity);
}

/**
 * The loop guard (engine.md section 5): has somebody else changed the same field again and again, whatever we put back?
 * Then it is left as it is for a while, and both managers are told. Undefined: it may be put back now.
 */
export async function contested(
  pass: Pass,
  wanted: Defended,
  live: StoredObject,
): Promise<Problem | undefined> {
  const fight = pass.state.fights.get(wanted.intent.identity);
  if (fight === undefined) return undefined;
  const taken = takenAgain(fight, wanted, live);
  if (taken.length === 0) return undefined;
  const nowMs = pass.context.clock.monotonicMs();
  const { truce } = fight;
  if (truce === undefined) return beginTruce(pass, wanted, { fight, taken, nowMs });
  const { intent } = wanted;
  if (!isSameIntent(truce.intent, intent)) {
    keep(pass, wanted, { ...fight, truce: { ...truce, intent } });
    return undefined;
  }
  if (nowMs < truce.untilMs) return problemOf(truce, nowMs);
  // Once more; if it is taken again, it is for longer.
  const lengthMs = Math.min(truce.lengthMs * 2, longestTruceMs);
  keep(pass, wanted, { ...fight, truce: { ...truce, lengthMs, untilMs: nowMs + lengthMs } });
  return undefined;
}

/** What is told of an object that is as wanted at the moment: only when nobody took the field for a whole truce is the fight over. */
export function stillContested(pass: Pass, { intent }: Defended): Problem | undefined {
  const { fights } = pass.state;
  const fight = fights.get(intent.identity);
  if (fight?.truce === undefined) return undefined;
  const nowMs = pass.context.clock.monotonicMs();
  const isSameMatter = [...fight.fields.values()].some(
    ({ steps, want }) => shortened(valueAtSteps(intent.manifest, steps)) === want,
  );
  if (isSameMatter && nowMs < fight.truce.untilMs) return problemOf(fight.truce, nowMs);
  fights.delete(intent.identity);
  return undefined;
}

/** Notes that an object was put back to what is wanted. `found`: what somebody, or a new intent, had made different. */
export function noteRepair(pass: Pass, wanted: Defended, found: readonly Difference[]): void {
  const repairedAtMs = pass.context.clock.monotonicMs();
  const fields = new Map(orMark(found).map((each) => [fieldName(each.path), takenField(each)]));
  const before = pass.state.fights.get(wanted.intent.identity);
  const both = new Map(
    [...fields].filter(([name, { want }]) => before?.fields.get(name)?.want === want),
  );
  if (before === undefined || both.size === 0) {
    keep(pass, wanted, { fields, repairs: 1, repairedAtMs });
  } else if (before.truce !== undefined) {
    keep(pass, wanted, { ...before, repairedAtMs });
  } else {
    const isRow = repairedAtMs - before.repairedAtMs <= rowGapMs;
    keep(pass, wanted, { fields: both, repairs: isRow ? before.repairs + 1 : 1, repairedAtMs });
  }
}

function keep({ state }: Pass, { intent }: Defended, fight: Fight): void {
  state.fights.set(intent.identity, fight);
}

function isSameIntent(a: Intent, b: Intent): boolean {
  return a.pathHash === b.pathHash && deepEqual(a.manifest, b.manifest);
}

interface Drift {
  readonly fight: Fight;
  readonly taken: readonly Difference[];
  readonly nowMs: number;
}

async function beginTruce(
  pass: Pass,
  wanted: Defended,
  { fight, taken, nowMs }: Drift,
): Promise<Problem | undefined> {
  if (fight.repairs < repairsInARow || nowMs - fight.repairedAtMs > rowGapMs) return undefined;
  const message = tell(pass, wanted, { taken, managers: await takers(pass, wanted, taken) });
  const lengthMs = shortestTruceMs;
  const truce = { message, intent: wanted.intent, lengthMs, untilMs: nowMs + lengthMs };
  keep(pass, wanted, { ...fight, truce });
  return problemOf(truce, nowMs);
}

/** What is different now, was put back before, and is to be what it was put back to. */
function takenAgain(
  { fields }: Fight,
  { intent, plan }: Defended,
  live: StoredObject,
): readonly Difference[] {
  return orMark(differences(intent.manifest, live.object, plan.type)).filter(
    (found) => fields.get(fieldName(found.path))?.want === takenField(found).want,
  );
}

/** Where no value differs, it is our mark of what was applied that is not there. */
function orMark(found: readonly Difference[]): readonly Difference[] {
  const path = ['metadata', 'annotations', appliedAnnotation];
  return found.length > 0 ? found : [{ path, want: undefined, have: undefined }];
}

function takenField({ path, want }: Difference): TakenField {
  return { steps: path, want: shortened(want) };
}

function shortened(value: unknown): string {
  const text = canonicalJson(value ?? null);
  return text.length <= 64 ? text : sha256Hex(text);
}

/** The managers that have the fields now, as far as the server says so. */
async function takers(
  pass: Pass,
  { intent, manager: ours = fieldManagerOf(pass.context.plan.name) }: Defended,
  taken: readonly Difference[],
): Promise<readonly string[]> {
  try {
    const owners = await pass.context.cluster.fieldOwners(
      intent.ref,
      worldWrite(pass),
      pass.signal,
    );
    const theirs = owners.filter(
      ({ manager, fields }) =>
        manager !== ours && taken.some(({ path }) => holdsField(fields, path)),
    );
    return [...new Set(theirs.map(({ manager }) => manager))].sort();
  } catch (error) {
    if (!(error instanceof KubeError) || pass.signal.aborted) throw error;
    return [];
  }
}

function tell(
  pass: Pass,
  { plan, manager: ours = fieldManagerOf(pass.context.plan.name) }: Defended,
  {
    taken,
    managers,
  }: { readonly taken: readonly Difference[]; readonly managers: readonly string[] },
): string {
  const names = taken.map(({ path }) => fieldName(path));
  const fields = fieldTexts(names, plan).toSorted().slice(0, toldAtMost).join(', ') || 'a field';
  const theirs = managers.length === 0 ? 'somebody else' : managers.map(quoted).join(', ');
  return `"${ours}" and ${theirs} write ${fields} in turn: it is put back ever more rarely`;
}

const toldAtMost = 5;

function quoted(text: string): string {
  return `"${text}"`;
}

function problemOf({ message, untilMs }: Truce, nowMs: number): Problem {
  return {
    reason: 'Contested',
    message,
    code: 'contested',
    kind: 'permanent',
    againAfterMs: Math.max(untilMs - nowMs, 0),
    isPartial: true,
  };
}
