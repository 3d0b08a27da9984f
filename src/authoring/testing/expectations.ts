import type { Expectation } from '#definition';
import {
  ExpectedValueError,
  type SimulatedApis,
  type TestCluster,
  type TestPlace,
  UnknownReferenceError,
} from '#simulation';
import { gvkOf } from '#util/gvk.ts';
import { isJsonObject, type Json, pointerTo } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { checkApi } from './api-expectations.ts';
import { compareSubset, type Mismatch } from './compare-subset.ts';

/** An expectation that is not true. */
export interface Failure {
  /** JSON pointer in the test's document, of the most specific field. */
  readonly pointer: string;
  /** What is wrong, in one line. */
  readonly message: string;
  /** Fields that are not as expected. */
  readonly mismatches: readonly Mismatch[];
  /**
   * JSON pointer in the test's document of the value that the pointers of `mismatches` begin at, where `--update` may write what was found.
   * @default undefined: it may not
   */
  readonly updatablePointer?: string;
}

/** What expectations are checked against. */
export interface Observed {
  /** @throws UnknownReferenceError if there is no such cluster */
  readonly placeOf: (cluster: string) => TestPlace;
  /** Writes of the operators since the step began, without Events. */
  readonly writes: number;
  /** Objects that the operators created and that exist. */
  readonly left: () => Promise<readonly string[]>;
  /** The simulated HTTP APIs. @default none, on a real cluster */
  readonly apis?: SimulatedApis;
  /** Hides values that may not be printed. @default undefined: none */
  readonly hide?: (failure: Failure, about: FailureSubject) => Failure;
}

/** What a failure is about. */
export interface FailureSubject {
  /** As the test has it, with its expressions. */
  readonly expectation: Expectation;
  /** The object whose fields were compared. Undefined: the failure quotes no object. */
  readonly object: KubeObject | undefined;
}

/** A failure with the object whose fields it quotes. */
interface Finding extends Failure {
  readonly object?: KubeObject;
}

/** Checks one expectation. Undefined: it is true. A kind that the server does not serve is a failure. */
export async function checkExpectation(
  expectation: Expectation,
  observed: Observed,
): Promise<Failure | undefined> {
  const found = await findingOf(expectation, observed);
  if (found === undefined) return undefined;
  const { object, ...failure } = found;
  return observed.hide?.(failure, { expectation, object }) ?? failure;
}

async function findingOf(
  expectation: Expectation,
  observed: Observed,
): Promise<Finding | undefined> {
  const { pointer, cluster, ...fields } = expectation;
  try {
    const place = observed.placeOf(cluster);
    const resolved = await place.values.resolve(fields);
    return await check({ ...resolved, pointer, cluster } as Expectation, place.cluster, observed);
  } catch (error) {
    if (error instanceof ExpectedValueError)
      return failure(`${pointer}${writtenPointer(expectation, error.pointer)}`, error.message);
    if (!(error instanceof UnknownReferenceError)) throw error;
    return failure(pointer, error.message);
  }
}

/** Where a field of the expectation is written: below the name of its kind. */
function writtenPointer({ kind }: Expectation, pointer: string): string {
  if (pointer.startsWith(`/${kind}/`)) return pointer;
  return `/${kind}${pointer.replace(/^\/fields\//, '/')}`;
}

async function check(
  expectation: Expectation,
  cluster: TestCluster,
  observed: Pick<Observed, 'writes' | 'left' | 'apis'>,
): Promise<Finding | undefined> {
  const { pointer, kind } = expectation;
  switch (kind) {
    case 'object':
      return checkObject(expectation.object, pointerTo(pointer, 'object'), cluster);
    case 'absent': {
      const { absent } = expectation;
      const found = await cluster.findAll(absent);
      const isNamed = typeof absent.metadata.name === 'string';
      const [first] = isNamed ? found : (await comparedAll(absent, found, cluster)).matching;
      if (first === undefined) return undefined;
      return failure(pointerTo(pointer, 'absent'), `${titleOf(first)} exists`);
    }
    case 'condition':
      return checkCondition(expectation, cluster);
    case 'status': {
      const at = pointerTo(pointerTo(pointer, 'status'), 'is');
      const object = await objectOf(expectation.of, cluster);
      if (object === undefined) return failure(at, `${expectation.of} does not exist`);
      const mismatches = compareSubset(expectation.is, object.status, undefined);
      return updatable(compared(`Status of ${expectation.of}`, at, { mismatches, object }), at);
    }
    case 'event':
      return checkEvent(expectation, cluster);
    case 'writes': {
      const at = pointerTo(pointer, 'writes');
      return compared('Writes of the operators', at, {
        mismatches: compareSubset(expectation.count, observed.writes, undefined),
      });
    }
    case 'nothingLeft': {
      const left = await observed.left();
      if (left.length === 0) return undefined;
      return failure(pointerTo(pointer, 'nothingLeft'), `Objects are left: ${left.join(', ')}`);
    }
    case 'api':
    case 'requests':
      return observed.apis && checkApi(expectation, observed.apis);
  }
}

async function checkObject(
  expected: KubeObject,
  pointer: string,
  cluster: TestCluster,
): Promise<Finding | undefined> {
  const found = await cluster.findAll(expected);
  const { kind, metadata } = expected;
  const [first, ...others] = found;
  if (first === undefined) {
    const isNamed = typeof metadata.name === 'string';
    const title = isNamed ? `${titleOf(expected)} does not exist` : `There is no ${kind}`;
    return failure(pointer, title);
  }
  const { matching, mismatches } = await comparedAll(expected, found, cluster);
  if (matching.length > 0) return undefined;
  if (others.length > 0) {
    const names = found.map((each) => `"${each.metadata.name}"`).join(', ');
    return failure(pointer, `No ${kind} is as expected; there are ${names}`);
  }
  return updatable(compared(titleOf(first), pointer, { mismatches, object: first }), pointer);
}

/** The objects that have the expected fields, and how the first one differs. */
async function comparedAll(
  expected: KubeObject,
  found: readonly KubeObject[],
  cluster: TestCluster,
): Promise<{ readonly matching: readonly KubeObject[]; readonly mismatches: readonly Mismatch[] }> {
  const type = await cluster.typeOf(gvkOf(expected.apiVersion, expected.kind));
  const all = found.map((object) => ({
    object,
    mismatches: compareSubset(expected, object, type),
  }));
  return {
    matching: all.filter((each) => each.mismatches.length === 0).map(({ object }) => object),
    mismatches: all[0]?.mismatches ?? [],
  };
}

type OfKind<Kind extends Expectation['kind']> = Extract<Expectation, { readonly kind: Kind }>;

async function checkCondition(
  { pointer, of, fields }: OfKind<'condition'>,
  cluster: TestCluster,
): Promise<Finding | undefined> {
  const at = pointerTo(pointer, 'condition');
  const object = await objectOf(of, cluster);
  if (object === undefined) return failure(at, `${of} does not exist`);
  const condition = conditionsOf(object).find(({ type }) => type === fields.type);
  const title = `Condition "${String(fields.type)}" of ${of}`;
  if (condition === undefined) return failure(at, `${title} does not exist`);
  return compared(title, at, { mismatches: compareSubset(fields, condition, undefined), object });
}

async function checkEvent(
  { pointer, of, fields }: OfKind<'event'>,
  cluster: TestCluster,
): Promise<Finding | undefined> {
  const at = pointerTo(pointer, 'event');
  const events = await eventsOf(of, cluster);
  const results = events.map((event) => compareSubset(fields, event, undefined));
  if (results.some((mismatches) => mismatches.length === 0)) return undefined;
  const found = events.map(({ reason, message }) => `${String(reason)}: ${String(message)}`);
  const list = found.length === 0 ? 'it has none' : `it has "${found.join('", "')}"`;
  const object = await objectOf(of, cluster);
  return { ...failure(at, `${of} has no such Event; ${list}`), ...(object && { object }) };
}

async function objectOf(reference: string, cluster: TestCluster): Promise<KubeObject | undefined> {
  return (await cluster.findByReference(reference)) as KubeObject | undefined;
}

/** Events of one object, with `message` in place of `note`. */
async function eventsOf(
  of: string,
  cluster: TestCluster,
): Promise<readonly Record<string, Json>[]> {
  const kind = await cluster.kindNamed('Event');
  if (kind === undefined) return [];
  const [named = '', ...rest] = of.split('/');
  const ownKind = (await cluster.kindNamed(named))?.gvk.kind ?? named;
  const name = rest.at(-1);
  return (await cluster.list(kind)).flatMap((event) => {
    const regarding = event.regarding ?? event.involvedObject;
    if (!isJsonObject(regarding) || regarding.kind !== ownKind || regarding.name !== name)
      return [];
    const { type, reason } = event as unknown as Record<string, Json>;
    const message = (event.note ?? event.message ?? '') as Json;
    return [{ type: type ?? null, reason: reason ?? null, message }];
  });
}

function compared(
  title: string,
  pointer: string,
  found: Pick<Finding, 'mismatches' | 'object'>,
): Finding | undefined {
  const [first] = found.mismatches;
  if (first === undefined) return undefined;
  return {
    pointer: `${pointer}${first.pointer}`,
    message: `${title} is not as expected`,
    ...found,
  };
}

function updatable(failure: Finding | undefined, updatablePointer: string): Finding | undefined {
  return failure && { ...failure, updatablePointer };
}

function failure(pointer: string, message: string): Failure {
  return { pointer, message, mismatches: [] };
}

function titleOf({ kind, metadata }: KubeObject): string {
  return `${kind} "${metadata.name}"`;
}
