import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { DefinitionValidator } from '#testing';
import { operatorText } from '../../../test/support/lsp/marked-text.ts';
import { type CheckedFile, TextChecker } from './check-text.ts';

const podset = operatorText('podset');
const podsetTest = operatorText('tests/podset');
const configMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n';
const fuzz = 'apiVersion: homeostat.dev/v1alpha1\nkind: OperatorFuzz\nmetadata: { name: a }\n';

describe('lsp/check-text', () => {
  const checker = new TextChecker();
  const validator = new DefinitionValidator();
  after(() => {
    checker.close();
    validator.close();
  });
  const file: CheckedFile = { path: 'a.yaml', isSample: false, definitions: [] };
  const inNoFile: CheckedFile = { ...file, path: undefined };
  const check = async (text: string) =>
    (await checker.check(text, inNoFile)).map(({ line, code, message }) => [line, code, message]);

  for (const [what, text] of [
    ['a valid definition', podset],
    [
      'a definition with errors in a CRD that only a server finds',
      podset.replace('minimum: 0', 'minimum: 0, default: -1'),
    ],
    ['a definition beside another manifest', `${podset}---\n${configMap}`],
    ['two definitions of one name', `${podset}---\n${podset}`],
    ['a definition with a syntax error', podset.replace('kind: Deployment', 'kind: "Deployment')],
    [
      'a definition whose kind is mistyped',
      podset.replace('kind: OperatorDefinition', 'kind: OperatorDefinitoin'),
    ],
    [
      'a definition of an unfinished schema',
      podset.slice(0, podset.indexOf('spec:\n                type')),
    ],
  ] as const) {
    test(`finds what "homeostat validate" finds in ${what}`, async () => {
      const { diagnostics } = validator.validate([{ file: 'a.yaml', text }]);
      assert.deepEqual(await checker.check(text, file), diagnostics);
      if (what !== 'a valid definition') assert.ok(diagnostics.length > 0);
    });
  }

  test('tests are checked by their format where they are in no file', async () => {
    assert.deepEqual(await check(podsetTest), []);
    const [first] = await check(podsetTest.replace('steps:', 'stpes:'));
    assert.equal(first?.[2], 'Unknown field "stpes"');
  });

  test('limits of random resources are checked by their format', async () => {
    const found = await check(`${fuzz}spec: { definition: a, skip: [idel] }\n`);
    assert.deepEqual(
      found.map(([line, code]) => [line, code]),
      [[4, 'invalid-value']],
    );
  });

  test('files of other tools are not checked', async () => {
    assert.deepEqual(await check(configMap), []);
    assert.deepEqual(await check('a: [\n'), []);
  });

  describe('with definitions', () => {
    const load = async (path: string) => [{ file: path, text: readFileSync(path, 'utf8') }];
    const near = new TextChecker(load);
    after(() => near.close());
    const definitions = [{ file: 'operators/podset.yaml', text: podset }];
    const problems = async (text: string, of: CheckedFile) =>
      (await near.check(text, of)).map(({ line, message, hint }) => [line, message, hint]);

    test('samples are checked with the schema of their kind', async () => {
      const path = 'operators/samples/a.yaml';
      const sample = { path, isSample: true, definitions };
      const text = operatorText('samples/podset');
      assert.deepEqual(await problems(text, sample), []);
      assert.deepEqual(await problems(`${text}---\n${configMap}dat: {}\n`, sample), [
        [text.split('\n').length + 4, 'Unknown field "dat"', 'Did you mean "data"?'],
      ]);
      const mistyped = text.replace('size: 3', 'size: three');
      const line = text.split('\n').findIndex((each) => each.includes('size: 3')) + 1;
      assert.deepEqual(await problems(mistyped, sample), [
        [line, 'Expected an integer, found "three"', undefined],
      ]);
    });

    test('a sample of a definition that cannot be read is not of an unknown kind, but built-in kinds are known', async () => {
      const unreadable = podset.replace('kind: Deployment', 'kind: "Deployment');
      const path = 'operators/samples/a.yaml';
      const broken = [{ file: 'operators/podset.yaml', text: unreadable }];
      const sample = { path, isSample: true, definitions: broken };
      const text = operatorText('samples/podset');
      assert.deepEqual(await problems(text, sample), []);
      assert.deepEqual(await problems(configMap.replace('ConfigMap', 'ConfigMpa'), sample), [
        [2, 'There is no kind "ConfigMpa" in "v1"', 'Did you mean "ConfigMap"?'],
      ]);
      assert.deepEqual(
        (await problems(text, { ...sample, definitions: [] })).map(([, message]) => message),
        ['There is no kind "PodSet" in "apps.example.com/v1alpha1"'],
      );
    });

    test('tests are checked with their definitions and files', async () => {
      const test = { path: 'operators/tests/a.yaml', isSample: false, definitions };
      assert.deepEqual(await problems(podsetTest, test), []);
      const line = (part: string) =>
        podsetTest.split('\n').findIndex((each) => each.includes(part)) + 1;
      const wrong = podsetTest
        .replace('merge: { spec: { size: 1 } }', 'merge: { spec: { szie: 1 } }')
        .replace('status: { of: PodSet/example', 'status: { of: PodSett/example');
      assert.deepEqual(await problems(wrong, test), [
        [
          line('status: { of: PodSet/example'),
          'There is no kind "PodSett"',
          'Did you mean "PodSet"?',
        ],
        [line('merge: { spec: { size: 1 } }'), 'Unknown field "szie"', 'Did you mean "size"?'],
      ]);
      const missing = podsetTest.replace('samples/podset.yaml', 'samples/podest.yaml');
      assert.deepEqual(await problems(missing, test), [
        [
          line('samples/podset.yaml'),
          'There is no file "../samples/podest.yaml"',
          'Did you mean "podset.yaml"?',
        ],
      ]);
    });

    test('many versions of a definition do not stay in memory, and the last one counts', async () => {
      const sample = operatorText('samples/podset').replace('size: 3', 'other: 3');
      for (let version = 0; version < 20; version++) {
        const text = podset.replace('size:', `size${version}:`);
        const file = { path: 'operators/samples/a.yaml', isSample: true };
        const found = await near.check(sample, {
          ...file,
          definitions: [{ file: 'a.yaml', text }],
        });
        assert.equal(found.at(-1)?.hint, `Known fields: size${version}`);
      }
    });
  });
});
