import type { Json, JsonObject } from '#util/json.ts';
import type { SeededRandom } from '../../support/model/seeded-random.ts';
import type { RandomWrite } from './random-writes.ts';

const managers = ['a', 'b', 'c'];
const selector = { app: 'web' };

/** The next write to a Deployment: mostly applies and strategic patches. */
export function randomDeploymentWrite(random: SeededRandom, name: string): RandomWrite {
  const manager = random.pick(managers) ?? 'a';
  const roll = random.fraction();
  const patch = (kind: string, body: JsonObject, tail = ''): RandomWrite => ({
    method: 'PATCH',
    tail: `${tail}?fieldManager=${manager}`,
    contentType: `application/${kind}`,
    body,
    isVersioned: false,
  });
  if (roll < 0.5)
    return {
      ...patch('apply-patch+yaml', whole(random, name)),
      tail: `?fieldManager=${manager}&force=${random.chance(0.5)}`,
    };
  if (roll < 0.6)
    return { ...patch('json', whole(random, name)), method: 'PUT', isVersioned: true };
  if (roll < 0.8) return patch('strategic-merge-patch+json', { spec: strategicSpec(random) });
  if (roll < 0.9) return patch('merge-patch+json', { spec: partOf(random, spec(random)) });
  if (roll < 0.97)
    return patch('strategic-merge-patch+json', { status: status(random) }, '/status');
  return { ...patch('json', {}), method: 'DELETE', tail: '' };
}

function whole(random: SeededRandom, name: string): JsonObject {
  const labels = random.chance(0.3) ? { labels: { tier: word(random) } } : {};
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, ...labels },
    spec: { selector: { matchLabels: selector }, ...spec(random) },
  };
}

type Makers = Readonly<Record<string, (random: SeededRandom) => Json>>;

/** Some of the fields, each made anew. */
function some(random: SeededRandom, makers: Makers): JsonObject {
  const share = random.pick([0.2, 0.5, 0.8]) ?? 0.5;
  const chosen = Object.entries(makers).filter(() => random.chance(share));
  return Object.fromEntries(chosen.map(([name, make]) => [name, make(random)]));
}

function word(random: SeededRandom): string {
  return random.pick(['x', 'y', 'z']) ?? 'x';
}

function count(random: SeededRandom): number {
  return random.below(3);
}

function flag(random: SeededRandom): boolean {
  return random.chance(0.5);
}

function spec(random: SeededRandom): JsonObject {
  return {
    ...some(random, {
      replicas: count,
      minReadySeconds: count,
      paused: flag,
      revisionHistoryLimit: count,
      strategy,
    }),
    template: template(random),
  };
}

function strategy(random: SeededRandom): Json {
  return (
    random.pick<Json>([
      { type: 'Recreate' },
      { type: 'RollingUpdate' },
      { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
      { rollingUpdate: { maxUnavailable: '50%' } },
      {},
    ]) ?? {}
  );
}

function template(random: SeededRandom): JsonObject {
  const labels = { ...selector, ...(random.chance(0.3) ? { extra: word(random) } : {}) };
  return { metadata: { labels }, spec: podSpec(random) };
}

function podSpec(random: SeededRandom): JsonObject {
  return {
    ...some(random, {
      volumes: (from) => named(from, ['v', 'w'], volume),
      tolerations: (from) => [{ key: word(from), operator: 'Exists' }],
      nodeSelector: (from) => ({ disk: word(from) }),
      terminationGracePeriodSeconds: count,
      hostNetwork: () => false,
      serviceAccountName: word,
      initContainers: (from) => named(from, ['i', 'j'], initContainer),
    }),
    containers: atLeastOne(random, ['c', 'd', 'e'], container),
  };
}

type Maker = (random: SeededRandom, name: string) => JsonObject;

function named(random: SeededRandom, names: readonly string[], make: Maker): readonly Json[] {
  const chosen = names.filter(() => random.chance(0.6));
  const ordered = random.chance(0.3) ? chosen.toReversed() : chosen;
  return ordered.map((name) => ({ name, ...make(random, name) }));
}

function atLeastOne(random: SeededRandom, names: readonly string[], make: Maker): readonly Json[] {
  const list = named(random, names, make);
  return list.length > 0
    ? list
    : names.slice(0, 1).map((name) => ({ name, ...make(random, name) }));
}

/** A volume has one source, no matter which manager adds to it. */
function volume(random: SeededRandom, name: string): JsonObject {
  if (name === 'v') return { emptyDir: random.chance(0.5) ? {} : { medium: 'Memory' } };
  return { configMap: { name: 'm', ...(random.chance(0.5) ? { defaultMode: 256 } : {}) } };
}

function container(random: SeededRandom): JsonObject {
  return {
    image: random.pick(['web', 'web:1', 'web:latest']) ?? 'web',
    ...some(random, {
      args: (from) => [word(from), word(from)],
      env: (from) => named(from, ['A', 'B', 'C'], variable),
      ports,
      resources: (from) =>
        from.pick<Json>([{ limits: { cpu: '1000m' } }, { requests: { memory: '1024Mi' } }, {}]) ??
        {},
      readinessProbe: (from) =>
        from.pick<Json>([{ httpGet: { port: 80 } }, { httpGet: { port: 81 }, periodSeconds: 3 }]) ??
        {},
      imagePullPolicy: () => 'Always',
      stdin: flag,
      workingDir: () => '',
    }),
  };
}

/** A container that ends has no readiness probe. */
function initContainer(random: SeededRandom): JsonObject {
  const { readinessProbe: _, ...rest } = container(random);
  return rest;
}

/** A variable has a value or a source, no matter which manager adds to it. */
function variable(random: SeededRandom, name: string): JsonObject {
  if (name === 'C') return { valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };
  return random.pick<JsonObject>([{ value: word(random) }, { value: '' }, {}]) ?? {};
}

function ports(random: SeededRandom): Json {
  const all: readonly JsonObject[] = [
    { containerPort: 80 },
    { containerPort: 80, protocol: 'UDP', name: 'dns' },
    { containerPort: 81, protocol: 'TCP' },
  ];
  return all.filter(() => random.chance(0.5));
}

/** Some fields of a spec, some of them null. */
function partOf(random: SeededRandom, object: JsonObject): JsonObject {
  const fields = Object.entries(object).filter(
    ([name]) => name !== 'template' && random.chance(0.6),
  );
  return Object.fromEntries(
    fields.map(([name, value]) => [name, random.chance(0.2) ? null : (value ?? null)]),
  );
}

/** A patch in the way kubectl writes them, with directives now and then. */
function strategicSpec(random: SeededRandom): JsonObject {
  const inner = random.chance(0.7) ? { template: { spec: strategicPodSpec(random) } } : {};
  return { ...partOf(random, spec(random)), ...inner };
}

function strategicPodSpec(random: SeededRandom): JsonObject {
  const containers = atLeastOne(random, ['c', 'd', 'e'], (from) =>
    from.chance(0.15) ? { $patch: 'delete' } : strategicContainer(from),
  );
  const order = random.chance(0.3)
    ? {
        '$setElementOrder/containers': containers.map((one) => ({
          name: (one as JsonObject).name,
        })),
      }
    : {};
  const rest = some(random, {
    tolerations: (from) => [{ key: word(from), operator: 'Exists' }],
    nodeSelector: (from) => (from.chance(0.3) ? { $patch: 'replace', zone: 'a' } : { disk: null }),
    volumes: (from) => [
      {
        name: 'v',
        $retainKeys: ['name', 'emptyDir'],
        emptyDir: { medium: from.chance(0.5) ? '' : 'Memory' },
      },
    ],
  });
  return { ...rest, ...order, containers };
}

function strategicContainer(random: SeededRandom): JsonObject {
  return {
    ...(random.chance(0.3) ? { image: 'web:2' } : {}),
    ...some(random, {
      args: (from) => (from.chance(0.3) ? null : [word(from)]),
      env: (from) => [
        ...named(from, ['A', 'B', 'D'], (one) =>
          one.chance(0.3) ? { $patch: 'delete' } : { value: word(one) },
        ),
        ...(from.chance(0.1) ? [{ $patch: 'replace' }] : []),
      ],
      ports,
    }),
  };
}

function status(random: SeededRandom): JsonObject {
  return some(random, {
    replicas: count,
    observedGeneration: count,
    conditions: (from) => [
      {
        type: from.pick(['Available', 'Progressing']) ?? 'Available',
        status: 'True',
        reason: word(from),
      },
    ],
  });
}
