// `node bench/render.ts`: time to evaluate the leaves of a typical Deployment template. Prints, asserts nothing.
import { createLeafParser, type Expression, type Scope } from '#compile/language/index.ts';

const root = {
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    size: 3,
    image: { repository: 'registry/web', tag: 'v1' },
    port: 8080,
    cpu: '500m',
    memory: '1Gi',
    host: 'web.example.com',
    account: 'web',
    args: [{ name: 'level', value: 'info' }],
  },
  vars: { labels: { app: 'web', tier: 'front' } },
};

const scope: Scope = {
  root,
  self: root,
  definition: { name: 'web', revision: '0123456789' },
  cluster: { name: 'test', labels: {} },
  now: '2026-01-01T00:00:00Z',
  randomText: (length) => 'x'.repeat(length),
};

const groups: Readonly<Record<string, readonly string[]>> = {
  'Deployment, 18 dynamic leaves, fast path': [
    '${ metadata.name }',
    '${ metadata.namespace }',
    '${ vars.labels }',
    '${ spec.size }',
    '${ vars.labels }',
    '${ vars.labels }',
    '${ spec.image.repository }:${ spec.image.tag }',
    '${ spec.port }',
    '${ spec.cpu ?? "100m" }',
    '${ spec.memory ?? "64Mi" }',
    '${ spec.cpu }',
    '${ spec.memory }',
    '${ spec.host }',
    '${ spec.level ?? "info" }',
    '${ metadata.name }-config',
    '${ spec.account }',
    '${ spec.size > 1 }',
    '${ metadata.name & "-tls" }',
  ],
  'a call, JSONata': ['${ $uppercase(spec.host) }'],
  'a path over a list, JSONata': ['${ spec.args.name }'],
  'a predicate, JSONata': ['${ spec.args[name = "level"].value }'],
  'a Handlebars text': [
    '{{#each spec.args}}{{name}}={{value}}{{/each}} {{spec.host}}:{{spec.port}}',
  ],
};

for (const [name, texts] of Object.entries(groups)) await measure(name, texts);

async function measure(name: string, texts: readonly string[]): Promise<void> {
  const parser = createLeafParser({
    parseYaml: (text) => text,
    printYaml: (value) => JSON.stringify(value),
    isReady: () => true,
  });
  const expressions = texts.flatMap((text): readonly Expression[] => {
    const { leaf } = parser.parse(text);
    if (leaf === undefined || leaf.kind === 'literal') return [];
    if (leaf.kind === 'text') return leaf.parts.filter((part) => typeof part !== 'string');
    return [leaf.expression];
  });
  const rounds = 5_000;
  const times: number[] = [];
  for (let repetition = 0; repetition < 7; repetition++) {
    const start = performance.now();
    for (let round = 0; round < rounds; round++) {
      for (const expression of expressions) {
        const result = expression.evaluate(scope);
        if (result instanceof Promise) await result;
      }
    }
    times.push(((performance.now() - start) / rounds) * 1_000);
  }
  const [median = 0] = times.toSorted((a, b) => a - b).slice(3);
  console.log(`${name}: ${median.toFixed(2)} us`);
}
