import type { SeededRandom } from './seeded-random.ts';

/** How many changes of definitions a test tries: HOMEOSTAT_PREVIEW_RUNS=10000 for long, _SEED=<seed> _RUNS=1 to see one again. */
export const previewRuns = {
  count: Number(process.env.HOMEOSTAT_PREVIEW_RUNS ?? 40),
  firstSeed: Number(process.env.HOMEOSTAT_PREVIEW_SEED ?? 1),
} as const;

/** The Secret that some children need; it may not be there. */
export const neededSecret = 'key';

const ids = ['a', 'b', 'c', 'd'];
/** Several children may want one name. */
const suffixes = ['one', 'two', 'three', 'four'];

/** The `spec` below `crd` of a random definition of PodSets: up to four children, each with a random life. */
export function randomBody(random: SeededRandom): string {
  const chosen = ids.filter(() => random.chance(0.6));
  const children = chosen.map((id, index) => randomChild(random, id, chosen.slice(0, index)));
  return `
  reads:
    - { id: key, apiVersion: v1, kind: Secret, name: ${neededSecret} }
  children:${children.join('')}${children.length === 0 ? ' []' : ''}`;
}

/** The `spec` of a random PodSet. */
export function randomSpec(random: SeededRandom): Readonly<Record<string, unknown>> {
  const items = ['x', 'y', 'z'].filter(() => random.chance(0.6));
  return { items, few: items.slice(0, 1), on: random.chance(0.5), text: random.pick(['p', 'q']) };
}

function randomChild(random: SeededRandom, id: string, before: readonly string[]): string {
  const list = random.pick(['', '', 'spec.items', 'spec.few']) ?? '';
  const isList = list !== '';
  const lines = [
    isList ? `forEach: "\${ ${list} }"` : '',
    random.pick(['', '', 'when: "${ spec.on }"', 'when: "${ $not(spec.on) }"']) ?? '',
    random.pick(['', '', 'updateStrategy: { type: Recreate }', 'deletionPolicy: Orphan']) ?? '',
    isList && random.chance(0.3) ? 'ordered: true' : '',
    before.length > 0 && random.chance(0.3) ? `after: [${random.pick(before)}]` : '',
    random.chance(0.15) ? 'crossNamespace: true' : '',
  ].filter((line) => line !== '');
  const kind = random.pick(['ConfigMap', 'ConfigMap', 'Secret']) ?? '';
  const field = kind === 'Secret' ? 'stringData' : 'data';
  const name = `\${ metadata.name }-${random.pick(suffixes)}${isList ? '-${ $item }' : ''}`;
  return `
    - id: ${id}
      template:
        apiVersion: v1
        kind: ${kind}
        metadata: { name: "${name}" }
        ${field}: { text: "${randomText(random, before)}" }${lines.map((line) => `\n      ${line}`).join('')}`;
}

function randomText(random: SeededRandom, before: readonly string[]): string {
  const plain = ['${ spec.text }', "${ spec.text & '!' }"];
  const needy = '${ reads.key.metadata.name }';
  const other = `\${ $string($count($append([], children.${random.pick(before)}))) }`;
  return (
    random.pick([...plain, ...plain, needy, before.length === 0 ? '${ spec.text }' : other]) ?? ''
  );
}
