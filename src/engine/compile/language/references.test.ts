import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createTestParser,
  expressionOf,
  isCovered,
  recording,
  testScope,
} from '../../../../test/support/compile/test-scope.ts';
import type { Reference } from './leaf.ts';

/** `root:path`, with `~` when it is not exact. */
function shown({ root, path, exact }: Reference): string {
  return `${root}:${path.join('.')}${exact ? '' : '~'}`;
}

const everything = ['children:~', 'observed:~', 'reads:~', 'resource:~', 'vars:~'];

describe('compile/language references', () => {
  for (const [source, expected] of [
    ['1 + 2', []],
    ['spec.size', ['resource:spec.size']],
    ['$$.spec.size', ['resource:spec.size']],
    ['$.spec.size', ['resource:spec.size']],
    ['$self.vars.size', ['resource:vars.size']],
    ['spec.`image-tag`."x"', ['resource:spec.image-tag.x']],
    ['children.db.status.ready', ['children:db.status.ready']],
    ['observed.db.data.password', ['observed:db.data.password']],
    ['vars.labels', ['vars:labels']],
    ['$item.name & $index', ['index:', 'item:name']],
    ['$child.status.phase = $previous.spec.x', ['child:status.phase', 'previous:spec.x']],
    ['$definition.name & $cluster.name', ['cluster:name', 'definition:name']],
    ['$now() & $millis()', ['now:', 'now:']],
    ['$randomString(4) & $random()', ['random:', 'random:']],
    ['$nextTime(spec.cron)', ['now:', 'resource:spec.cron']],
    ['$nextTime(spec.cron, "UTC")', ['now:', 'resource:spec.cron']],
    ['$nextTime(spec.cron, "UTC", spec.at)', ['resource:spec.at', 'resource:spec.cron']],
    ['spec.cron ~> $nextTime("UTC", spec.at)', ['resource:spec.at', 'resource:spec.cron']],
    ['$map(spec.crons, $nextTime)', ['now:', 'resource:spec.crons']],
    ['spec.a ?? spec.b ?? 0', ['resource:spec.a', 'resource:spec.b']],
    ['spec.a ? spec.b : spec.c', ['resource:spec.a', 'resource:spec.b', 'resource:spec.c']],
    [
      'reads.pods[status.phase = "Running"].metadata.name',
      ['reads:pods.metadata.name', 'reads:pods.status.phase'],
    ],
    ['reads.pods[0].metadata.name', ['reads:pods.metadata.name']],
    [
      'reads.pods[metadata.name = $$.spec.pod].spec',
      ['reads:pods.metadata.name', 'reads:pods.spec', 'resource:spec.pod'],
    ],
    ['reads.pods.(metadata.name & spec.x)', ['reads:pods.metadata.name', 'reads:pods.spec.x']],
    ['reads.pods.{"n": metadata.name}', ['reads:pods.metadata.name']],
    [
      'reads.pods{metadata.name: status.phase}',
      ['reads:pods.metadata.name', 'reads:pods.status.phase'],
    ],
    [
      'reads.pods^(>metadata.creationTimestamp)[0].status.ip',
      ['reads:pods.metadata.creationTimestamp', 'reads:pods.status.ip'],
    ],
    [
      'reads.pods@$p#$i.spec.names[$ = $p.metadata.name]',
      ['reads:pods.metadata.name', 'reads:spec.names'],
    ],
    [
      'reads.pods@$p[$p.status.phase = x and spec.y].$p.metadata.name',
      ['reads:pods.metadata.name', 'reads:pods.status.phase', 'reads:spec.y', 'reads:x'],
    ],
    ['$map(reads.pods, function($p){ $p.metadata.name })', ['reads:pods.metadata.name']],
    ['$map(reads.pods, function($p){ $p.metadata }).name', ['reads:pods.metadata.name']],
    [
      '$filter(reads.pods, function($p){ $p.spec.x = spec.y }).metadata.name',
      ['reads:pods.metadata.name', 'reads:pods.spec.x', 'resource:spec.y'],
    ],
    ['reads.pods ~> $map(function($p){ $p.status.ip })', ['reads:pods.status.ip']],
    [
      '$sort(reads.pods, function($a, $b){ $a.spec.n > $b.spec.n }).status.ip',
      ['reads:pods.spec.n', 'reads:pods.status.ip'],
    ],
    ['$reduce(reads.pods, function($a, $p){ $a + $p.spec.n }, 0)', ['reads:pods.spec.n']],
    ['$reduce(spec.l, function($a, $v){ {"t": $a.t + $v.n} }, {"t": 0})', ['resource:spec.l.n']],
    [
      '$reduce(spec.l, function($a, $v){ $a.x }).y',
      [
        'resource:spec.l.x.x.y',
        'resource:spec.l.x.x~',
        'resource:spec.l.x.y',
        'resource:spec.l.x~',
        'resource:spec.l.y',
      ],
    ],
    ['( $a := spec.x; $a.y )', ['resource:spec.x.y']],
    ['( $a := spec.x; $a )', ['resource:spec.x']],
    ['( $a := spec.unused; 1 )', ['resource:spec.unused']],
    [
      '( $f := function($x){ $x.a }; $f(spec) & $f(metadata) )',
      ['resource:metadata.a', 'resource:spec.a'],
    ],
    [
      '( $f := function($x){ $x.next ? $f($x.next) : $x.end }; $f(spec.list) )',
      ['resource:spec.list.end~', 'resource:spec.list.next~'],
    ],
    ['{"a": spec.a, "b": [spec.b, vars.c]}', ['resource:spec.a', 'resource:spec.b', 'vars:c']],
    ['$keys(spec.labels)', ['resource:spec.labels']],
    ['$lookup(spec.labels, "app")', ['resource:spec.labels.app']],
    ['$lookup(spec.labels, metadata.name)', ['resource:metadata.name', 'resource:spec.labels~']],
    ['$append(spec.a, spec.b).x', ['resource:spec.a.x', 'resource:spec.b.x']],
    ['$merge([spec.a, spec.b]).x', ['resource:spec.a', 'resource:spec.b']],
    ['$condition(children.db, "Ready").status', ['children:db.status.conditions.status']],
    ['$isReady(children.db)', ['children:db~']],
    ['spec.name.$uppercase()', ['resource:spec.name']],
    ['spec.*', ['resource:spec~']],
    ['spec.a.**', ['resource:spec.a~']],
    ['$self', ['resource:~']],
    ['$self.*', ['resource:~']],
    ['$', everything],
    ['$$', everything],
    ['**.name', everything],
    ['$keys()', everything],
    ['spec.a.%.b', ['resource:spec.a', 'resource:spec.b']],
    ['spec.l.a.b.(% & %.%.c)', ['resource:spec.l.a', 'resource:spec.l.a.b', 'resource:spec.l.c']],
    ['spec.l[%.on].a', ['resource:spec.l.a', 'resource:spec.on']],
    ['(spec.a.b).%.c', ['resource:spec.a.b', 'resource:spec.a.c']],
    ['$each(spec.labels, function($v, $k){ $k & $v })', ['resource:spec.labels~']],
  ] as const) {
    test(`of ${source}`, () => {
      const found = expressionOf(`\${ ${source} }`).references.map(shown).toSorted();
      assert.deepEqual(found, [...expected].toSorted());
    });
  }

  test('have the offsets of their steps in the leaf', () => {
    const text = 'é-${ $$.spec.a & reads.pods[ status.phase = "x" ].metadata.`name` }';
    const { references } = expressionOf(text);
    assert.deepEqual(
      references.map(({ root, offset, stepOffsets }) => [
        root,
        text.slice(offset).split(/[ .[]/)[0],
        stepOffsets.map((step) => text.slice(step).split(/[ .[\]]/)[0]),
      ]),
      [
        ['resource', '$$', ['spec', 'a']],
        ['reads', 'reads', ['pods', 'status', 'phase']],
        ['reads', 'reads', ['pods', 'metadata', '`name`']],
      ],
    );
  });

  test('mark values that are evaluated only if an observed value is missing', () => {
    const flagged = (source: string) =>
      expressionOf(`\${ ${source} }`)
        .references.filter(({ root }) => root === 'random' || root === 'now')
        .map(({ isObservedDefault }) => isObservedDefault === true);
    assert.deepEqual(flagged('observed.s.data.p ?? $base64encode($randomString(20))'), [true]);
    assert.deepEqual(flagged('(observed.s.data.p ?? $now()) & $now()'), [true, false]);
    assert.deepEqual(flagged('spec.p ?? $randomString(20)'), [false]);
    assert.deepEqual(flagged('observed.s.p ? 1 : $randomString(20)'), [false]);
  });

  for (const source of [
    '(spec.a ?? {"n": 1}).n',
    '($a := spec.a; $a := $merge([$a, {"n": 1}]); $a.n)',
  ])
    test(`of ${source} mark a field that another value may have`, () => {
      const found = expressionOf(`\${ ${source} }`).references.filter(
        ({ path }) => path.at(-1) === 'n',
      );
      assert.deepEqual(
        found.map(({ path, mixedFrom }) => [path.join('.'), mixedFrom]),
        [['spec.a.n', 2]],
      );
    });

  test('cover everything that evaluation reads', async () => {
    const parser = createTestParser();
    const random = createRandom(42);
    let evaluated = 0;
    for (let round = 0; round < 1_500; round++) {
      const source = randomExpression(random, 3);
      const { leaf } = parser.parse(`\${ ${source} }`);
      if (leaf?.kind !== 'value') continue;
      evaluated++;
      const reads = new Set<string>();
      const root = recording(data, [], reads) as Record<string, unknown>;
      const scope = testScope(root, { item: recording(data.item, ['$item'], reads) });
      // A failure reads too, up to where it fails.
      await Promise.resolve(leaf.expression.evaluate(scope)).catch(() => undefined);
      for (const read of reads) {
        assert.ok(isCovered(read, leaf.expression.references), `${source} reads ${read}`);
      }
    }
    assert.ok(evaluated > 1_250, `Only ${evaluated} random expressions were legal`);
  });
});

const data = {
  metadata: { name: 'web', labels: { a: 'x', b: 'y' } },
  spec: {
    a: 1,
    b: { a: 'x', c: [1, 2] },
    c: [
      { a: 1, b: 'x' },
      { a: 2, b: { c: 'y' } },
    ],
  },
  status: { a: 'x', c: { b: 1 } },
  children: { db: { spec: { a: 1 }, status: { b: 'x', a: 2 } } },
  observed: { db: { spec: { a: 1 }, status: { b: 'x' } } },
  reads: {
    pods: [
      { metadata: { name: 'p1' }, spec: { a: 1 }, status: { b: 'x', c: [1] } },
      { metadata: { name: 'p2' }, spec: { a: 2 }, status: { b: 'y', c: [2] } },
    ],
  },
  vars: { a: { b: 1 }, c: [{ a: 1 }] },
  item: { a: 'x', b: { c: 1 } },
};

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
  };
}

function randomExpression(random: (below: number) => number, depth: number): string {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const sub = () => randomExpression(random, depth - 1);
  const name = () => pick(['a', 'b', 'c', 'spec', 'status', 'metadata', 'name']);
  const place = () =>
    pick([
      'spec',
      'spec.b',
      'spec.c',
      'status',
      'metadata.labels',
      'children.db',
      'observed.db',
      'reads.pods',
      'vars.a',
      'vars.c',
      '$item',
      '$self.spec',
      '$$.spec',
      '$',
      'reads.pods.status',
      '$x',
      '$y',
    ]);
  const bound = (text: string) =>
    `($x := ${place().replace(/\$[xy]/, 'spec')}; $y := $x.${name()}; ${text})`;
  if (depth === 0) return bound(`${place()}.${name()}`);
  const text = pick([
    () => `${place()}.${name()}`,
    () => `${place()}[${name()} = ${sub()}].${name()}`,
    () => `${place()}[${random(2)}].${name()}`,
    () => `${place()}.(${name()} & ${name()})`,
    () => `${place()}.{"k": ${name()}, "l": ${sub()}}`,
    () => `${place()}{$string(${name()}): ${name()}}`,
    () => `${place()}^(${name()}).${name()}`,
    () => `$map(${place()}, function($x){ $x.${name()} })`,
    () => `$map(${place()}, function($y){ ${sub()} }).${name()}`,
    () => `$filter(${place()}, function($x){ $x.${name()} = ${sub()} }).${name()}`,
    () => `$reduce(${place()}, function($x, $y){ $x.${name()} ? $y : $x }, ${place()}).${name()}`,
    () => `$sort(${place()}, function($x, $y){ $x.${name()} > $y.${name()} })`,
    () => `$each(${place()}, function($x){ $x.${name()} })`,
    () => `$sift(${place()}, function($x){ $x.${name()} })`,
    () => `$merge([${place()}, ${place()}]).${name()}`,
    () => `$append(${place()}, ${place()}).${name()}`,
    () => `$lookup(${place()}, ${pick(['"a"', name()])})`,
    () => `$count(${place()}.*)`,
    () => `${place()}.**.${name()}`,
    () => `${place()}.${name()}.%.${name()}`,
    () => `${place()}.${name()}.%[${name()} = 1].%.${name()}`,
    () => `(${sub()}).${name()}`,
    () => `${sub()} ?? ${sub()}`,
    () => `${sub()} ?: ${place()}`,
    () => `(${sub()} ? ${place()} : ${place()}).${name()}`,
    () => `[${sub()}, ${place()}].${name()}`,
    () => `${place()}@$y.${name()}[$y.${name()} = 1]`,
    () => `${place()}@$y[$y.${name()} = ${sub()}].$y.${name()}`,
    () => `${place()}#$x.${name()}[$x = 0]`,
    () => `${place()}#$x[$x = 0].${name()}`,
    () =>
      `($f := function($x, $n){ $n > 2 ? $x.${name()} : $f($x.${name()}, $n + 1) }; $f(${place()}, 0).${name()})`,
    () => `($f := function($x){ $x.${name()} }; $g := $f ~> $count; $g(${place()}))`,
    () =>
      `($f := function($x, $y){ [$x.${name()}, $y] }; $h := $f(?, ${place()}); $h(${place()}).${name()})`,
    () => `(${place()} ~> $map(function($x){ $x })).${name()}`,
    () => `$map(${place()}, $exists ? function($x){ $x.${name()} } : $string)`,
    () => `$string(${place()})`,
    () => `${place()}.$keys()`,
    () => `$zip(${place()}, ${place()}).${name()}`,
    () => `$spread(${place()}).${name()}`,
    () => `$distinct(${place()}).${name()}`,
    () => `$condition(${place()}, "Ready").${name()}`,
    () => `${place()}.${name()} in ${place()}.${name()}`,
  ])();
  return bound(text);
}
