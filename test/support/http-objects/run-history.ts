import { approveEndpointAnnotation } from '#http-objects/core/endpoint-gate.ts';
import { parseRecord, recordAnnotation } from '#http-objects/core/record.ts';
import { approveCreateAnnotation, idAnnotation } from '#http-objects/core/recover.ts';
import { canonicalJson } from '#util/canonical-json.ts';
import type { JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { SeededRandom } from '../model/seeded-random.ts';
import { type Kind, kinds, randomFault, randomSpec } from './model-history.ts';
import { keyOfObject, ModelWorld, type Seeded } from './model-world.ts';
import { apiUrl, httpObject } from './test-objects.ts';

const objectNames = ['one', 'two', 'three'];
const collections: Readonly<Record<Kind, string>> = {
  record: '/records',
  queue: '/queues',
  token: '/tokens',
  unnamed: '/unnamed',
};

/** Runs one random history to its end. Returns what is wrong afterwards; nothing if all rules hold. */
export async function runHistory(seed: number, seededErrors?: Seeded): Promise<readonly string[]> {
  const random = new SeededRandom(seed);
  const world = new ModelWorld(random, seededErrors);
  const kind = random.pick(kinds) ?? 'record';
  const foreign = new Set<string>();
  world.faultOf = () => randomFault(random);
  for (let step = 0; step < 12; step++) {
    act(world, kind, { random, foreign });
    if (random.chance(0.35)) world.killAfter(random.below(14));
    for (let round = 0; round < 4; round++) {
      await world.reconcileDue();
      if (world.isDead) world.restart();
      await world.clock.advance(random.pick([0, 100, 3_000, 45_000]) ?? 0);
    }
  }
  world.faultOf = () => undefined;
  world.cluster.rejects = () => undefined;
  // Without faults, everything settles. What only a user can decide, a user decides.
  await settleAll(world);
  // A user looks when nothing can arrive any more.
  await world.clock.advance(60_000);
  const sentEarly = await sentWithoutApproval(world);
  approveEndpoint(world);
  await settleAll(world);
  await world.clock.advance(60_000);
  answerQuestions(world, kind, foreign);
  await settleAll(world);
  return [
    ...world.bugs,
    ...sentEarly,
    ...(await problems(world, kind, foreign)),
    ...(await idleProblems(world)),
  ];
}

/** One change by a user, or at the far end. */
function act(
  world: ModelWorld,
  kind: Kind,
  { random, foreign }: { readonly random: SeededRandom; readonly foreign: Set<string> },
): void {
  const name = random.pick(objectNames) ?? 'one';
  const far = world.api.collection(collections[kind]);
  const some = [...far.objects.keys()];
  switch (random.below(12)) {
    case 10:
      world.rejectSecrets(random.pick([500, 20_000]) ?? 0);
      break;
    case 11:
      if (random.chance(0.3)) world.recreateEndpoint();
      break;
    case 0:
    case 1:
      world.cluster.remove('HttpObject', 'shop', name);
      break;
    case 2: {
      // Drift: another user changes a field.
      const key = random.pick(some) ?? '';
      const object = far.objects.get(key);
      if (object !== undefined) far.objects.set(key, { ...object, content: 'drifted' });
      break;
    }
    case 3:
      if (some.length > 0) {
        const key = random.pick(some) ?? '';
        far.objects.delete(key);
        foreign.delete(key);
      }
      break;
    case 4: {
      if (!random.chance(0.3)) break;
      const key = kind === 'queue' ? (random.pick(['a', 'b', 'c']) ?? 'a') : far.nextKey();
      if (far.objects.has(key)) break;
      foreign.add(key);
      const keyField = far.spec.key;
      far.objects.set(key, { name: 'a', content: 'foreign', [keyField]: key });
      break;
    }
    case 5:
      world.api.goDown(random.below(60_000));
      break;
    default: {
      const object = world.cluster.get('HttpObject', 'shop', name);
      if (object?.metadata.deletionTimestamp !== undefined) break;
      world.cluster.put(httpObject(randomSpec(kind, random), { name }), world.clock.nowMs());
    }
  }
  world.enqueue(`shop/${name}`);
}

async function settleAll(world: ModelWorld): Promise<void> {
  world.restart();
  const startMs = world.clock.nowMs();
  const endMs = startMs + 3 * 3_600_000;
  for (let rounds = 0; rounds < 400; rounds++) {
    await world.reconcileDue();
    const nextMs = world.nextDueMs;
    if (nextMs === undefined || nextMs > endMs) return;
    // Each object was observed since the last request that could arrive late.
    const isLate = world.clock.nowMs() > startMs + 200_000;
    if (world.objects.every(isSettled) && isLate) return;
    await world.clock.advance(Math.max(1, nextMs - world.clock.nowMs()));
  }
}

function isSettled(object: KubeObject): boolean {
  const ends = ['AsDesired', 'CreateUnknown', 'IdentityChanged', 'Conflict', 'EndpointChanged'];
  return ends.includes(reasonOf(object));
}

/** Nothing is sent to an endpoint that an object does not know, until a user approves it. */
async function sentWithoutApproval(world: ModelWorld): Promise<readonly string[]> {
  const isHeld = (object: KubeObject) => {
    const { identity } = recordOf(object);
    return identity !== undefined && identity.endpointUid !== world.endpointUid;
  };
  if (world.objects.length === 0 || !world.objects.every(isHeld)) return [];
  const { length } = world.api.requests;
  for (const object of world.objects) world.enqueue(keyOfObject(object));
  await world.reconcileDue();
  const sent = world.api.requests.slice(length);
  return sent.map(({ method, path }) => `${method} ${path} was sent to another endpoint`);
}

/** A user knows that it is the same API. */
function approveEndpoint(world: ModelWorld): void {
  for (const object of world.objects)
    world.cluster.annotate('HttpObject', 'shop', object.metadata.name, {
      [approveEndpointAnnotation]: `${apiUrl} ${world.endpointUid}`,
    });
}

/** A create whose answer was lost, and that nothing can find, or several objects match: a user looks. */
function answerQuestions(world: ModelWorld, kind: Kind, foreign: ReadonlySet<string>): void {
  const far = world.api.collection(collections[kind]);
  const owned = new Set(world.objects.map((object) => recordOf(object).identity?.id));
  for (const object of world.objects) {
    const { pending, isUnobserved, createdBy, identity } = recordOf(object);
    // It was deleted before it was observed.
    if (isUnobserved && reasonOf(object) === 'NotFound')
      world.cluster.annotate('HttpObject', 'shop', object.metadata.name, {
        [approveCreateAnnotation]: createdBy ?? identity?.id ?? '',
      });
    const isAsked = ['CreateUnknown', 'Conflict'].includes(reasonOf(object));
    if (!isAsked || pending === undefined) continue;
    const { name } = object.metadata;
    const id = [...far.objects.keys()].find((key) => !owned.has(key) && !foreign.has(key));
    owned.add(id);
    world.cluster.annotate('HttpObject', 'shop', name, {
      ...(id === undefined ? { [approveCreateAnnotation]: pending.key } : { [idAnnotation]: id }),
    });
  }
}

async function problems(
  world: ModelWorld,
  kind: Kind,
  foreign: ReadonlySet<string>,
): Promise<readonly string[]> {
  const found: string[] = [];
  const far = world.api.collection(collections[kind]);
  const owners = new Map<string, string>();
  for (const object of world.objects) {
    const key = keyOfObject(object);
    const record = recordOf(object);
    const reason = reasonOf(object);
    if (object.metadata.deletionTimestamp !== undefined)
      found.push(`${key} is not deleted: ${reason}`);
    const farKey = record.isOwned ? farKeyOf(kind, record) : undefined;
    if (farKey !== undefined) {
      const other = owners.get(farKey);
      if (other !== undefined && reason !== 'Conflict')
        found.push(`${other} and ${key} own "${farKey}"`);
      owners.set(farKey, key);
    }
    if (reason === 'AsDesired') {
      const { desired } = object.spec as { readonly desired: JsonObject };
      const live = farKey === undefined ? undefined : far.objects.get(farKey);
      for (const [field, value] of Object.entries(desired))
        if (live?.[field] !== value) found.push(`${key}: "${field}" is not as desired`);
      if (kind === 'token') found.push(...secretProblems(world, object));
    } else if (!isExplained(world, object, { far, foreign, kind })) {
      found.push(`${key} does not settle: ${reason} ${messageOf(object)}`);
    }
  }
  for (const farKey of far.objects.keys())
    if (!owners.has(farKey) && !foreign.has(farKey)) found.push(`nothing owns "${farKey}"`);
  return found;
}

/** States that end only with an edit. */
function isExplained(
  world: ModelWorld,
  object: KubeObject,
  { kind }: { readonly far: unknown; readonly foreign: ReadonlySet<string>; readonly kind: Kind },
): boolean {
  const spec = object.spec as JsonObject;
  const reason = reasonOf(object);
  if (reason === 'IdentityChanged') return spec.onIdentityChange !== 'Replace';
  // Another HttpObject, or an object of another program, has the name; or a Secret of another HttpObject.
  if (reason === 'SecretNotWritten') return kind === 'token' && world.objects.length > 1;
  if (reason !== 'Conflict') return false;
  const { name } = spec.params as JsonObject;
  const others = world.objects.filter(
    (each) =>
      each !== object &&
      ((each.spec as { params: JsonObject }).params.name === name ||
        (recordOf(each).isOwned && canonicalJson(recordOf(each)).includes(`/${String(name)}"`)) ||
        reasonOf(each) === 'IdentityChanged'),
  );
  const far = world.api.collection(collections[kind]);
  const taken = [...far.objects.values()].some((each) => each.name === name);
  return others.length > 0 || taken;
}

function secretProblems(world: ModelWorld, object: KubeObject): readonly string[] {
  const { name } = (object.spec as { secret: { name: string } }).secret;
  const secret = world.cluster.get('Secret', 'shop', name);
  const data = secret?.data as JsonObject | undefined;
  return data?.token === undefined ? [`${keyOfObject(object)}: the Secret "${name}" is empty`] : [];
}

/** Looks that find nothing new send nothing to the API server, and write nothing to the API. */
async function idleProblems(world: ModelWorld): Promise<readonly string[]> {
  const settled = world.objects.filter((object) => reasonOf(object) === 'AsDesired');
  const { writes } = world.cluster;
  const { length } = world.api.requests;
  for (const object of settled) {
    world.cluster.annotate('HttpObject', 'shop', object.metadata.name, {
      'homeostat.dev/reconcile-at': String(world.clock.nowMs()),
    });
    world.enqueue(keyOfObject(object));
  }
  await world.reconcileDue();
  const sent = world.api.requests.slice(length).filter(({ method }) => method !== 'GET');
  return [
    ...(world.cluster.writes > writes + settled.length ? ['a look writes to the API server'] : []),
    ...sent.map(({ method, path }) => `a look sends ${method} ${path}`),
  ];
}

function farKeyOf(kind: Kind, { identity }: ReturnType<typeof recordOf>): string | undefined {
  return kind === 'queue' ? identity?.observe.path.split('/').at(-1) : identity?.id;
}

function recordOf({ metadata }: KubeObject) {
  return parseRecord(metadata.annotations?.[recordAnnotation]) ?? {};
}

function conditionOf(object: KubeObject) {
  return conditionsOf(object).find(({ type }) => type === 'Synced');
}

function reasonOf(object: KubeObject): string {
  return String(conditionOf(object)?.reason);
}

function messageOf(object: KubeObject): string {
  return String(conditionOf(object)?.message);
}
