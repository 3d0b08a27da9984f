import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTestParser, evaluate } from '../../../../../test/support/compile/test-scope.ts';

const root = {
  spec: {
    version: 'v1.29.3-gke.100+a.b',
    broken: '1.2-secret',
    range: '>=1.28',
    wrong: '>=secret',
  },
};

describe('compile/language/functions versions', () => {
  for (const [source, expected] of [
    [
      '$semver(spec.version)',
      { major: 1, minor: 29, patch: 3, release: '1.29.3', prerelease: 'gke.100', build: 'a.b' },
    ],
    ['$semver("1.0.0")', { major: 1, minor: 0, patch: 0, release: '1.0.0' }],
    ['$semver(spec.nothing)', undefined],
    ['$semverCompare("1.9.0", "v1.10.0")', -1],
    ['$semverCompare("1.0.0", "1.0.0-rc.1")', 1],
    ['$semverCompare("1.0.0", "1.0.0+b")', 0],
    ['$semverCompare("1.0.0", spec.nothing)', undefined],
    ['$semverMatches("1.29.3", spec.range)', true],
    ['$semverMatches("1.27.9", spec.range)', false],
    ['$semverMatches(spec.version, spec.range)', false],
    ['$semverMatches($semver(spec.version).release, spec.range)', true],
    ['$semverMatches(spec.nothing, "1")', undefined],
    [
      '$sort(["1.10.0", "1.9.0"], function($a, $b){ $semverCompare($a, $b) > 0 })',
      ['1.9.0', '1.10.0'],
    ],
  ] as const) {
    test(`${source} gives ${JSON.stringify(expected)}`, async () => {
      assert.deepEqual(await evaluate(source, root), expected);
    });
  }

  for (const source of [
    '$semver(spec.broken)',
    '$semverCompare("1.0.0", spec.broken)',
    '$semverMatches(spec.version, spec.wrong)',
    '$semverMatches(spec.version, spec.nothing)',
    '$semver(1)',
  ]) {
    test(`${source} is an error without a value`, async () => {
      await assert.rejects(
        async () => evaluate(source, root),
        (error: Error & { code: string }) =>
          error.code === 'evaluation-failed' && !error.message.includes('secret'),
      );
    });
  }

  for (const source of ['$semver("1.2")', '$semverMatches(spec.v, ">=x.y")']) {
    test(`${source} is rejected at load`, () => {
      const { problems } = createTestParser().parse(`\${ ${source} }`);
      assert.deepEqual(
        problems.map(({ code }) => code),
        ['invalid-value'],
      );
    });
  }
});
