import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CoverageKind } from '#compile';
import { CoverageCollector, type CoveredPoint } from './coverage-collector.ts';
import { coverageHtml } from './coverage-html.ts';
import { coverageLcov } from './coverage-lcov.ts';
import { coverageText, coveredPercent } from './coverage-text.ts';

const unevaluated = 'ops.yaml 7:9';

function point(kind: CoverageKind, line: number, column: number, expressionKey = 'first') {
  const [file, key] = ['ops.yaml', `ops.yaml ${line}:${column} ${kind}`];
  return { definition: 'ops', kind, key, expressionKey, file, position: { line, column } };
}

/** A default that is not used, and an expression that is not evaluated. */
function points(): readonly CoveredPoint[] {
  const collector = new CoverageCollector();
  const [whole, value, fallback] = [
    point('expression', 3, 5),
    point('value', 3, 5),
    point('default', 3, 12),
  ];
  const others = [point('expression', 7, 9, unevaluated), point('if', 7, 20, unevaluated)];
  for (const each of [...others, whole, value, fallback]) collector.files.declare(each);
  for (const each of [whole, whole, value, value]) collector.runs.reach(each);
  // A later version of the file, which a test loads.
  collector.runs.declare(point('expression', 1, 1));
  collector.runs.reach(point('expression', 1, 1));
  return collector.points;
}

describe('simulation/coverage', () => {
  test('the text lists what is missing by place, and an expression that is not evaluated once', () => {
    assert.deepEqual(coverageText(points()), [
      'Coverage: 2 of 5 (40 %)',
      'ops.yaml: 2 of 5 (40 %)',
      '  ops.yaml:3:12: the default is not used',
      '  ops.yaml:7:9: the expression is not evaluated',
    ]);
  });

  test('LCOV has lines and branches', () => {
    assert.deepEqual(coverageLcov(points()).split('\n'), [
      'TN:',
      'SF:ops.yaml',
      'DA:3,2',
      'DA:7,0',
      'LF:2',
      'LH:1',
      'BRDA:3,0,0,2',
      'BRDA:3,0,1,0',
      'BRDA:7,0,2,0',
      'BRF:3',
      'BRH:1',
      'end_of_record',
      '',
    ]);
  });

  test('the page marks lines, and shows the text of the file as text', () => {
    const text = 'a\nb\n<script>\n';
    const html = coverageHtml(points(), [{ file: 'ops.yaml', text }]);
    assert.match(html, /<h2>ops\.yaml: 40 %<\/h2>/);
    assert.match(
      html,
      /class="line missing"><span class="number">3<\/span>&lt;script&gt; .*the default is not used/,
    );
    assert.match(html, /class="line"><span class="number">1<\/span>a</);
    assert.doesNotMatch(html, /<script>/);
  });

  test('100 % only when everything is covered', () => {
    const many = Array.from({ length: 2_000 }, (_, line) => ({
      ...point('expression', line, 1),
      count: line === 0 ? 0 : 1,
    }));
    assert.equal(coveredPercent(many), 99.9);
    assert.equal(coveredPercent([]), 100);
  });
});
