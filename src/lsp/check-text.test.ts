import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { operatorText } from '../../test/support/lsp/marked-text.ts';
import { DefinitionValidator } from '../simulation/index.ts';
import { TextChecker } from './check-text.ts';

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
  const check = (text: string) =>
    checker.check(text, 'a.yaml').map(({ line, code, message }) => [line, code, message]);

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
    test(`finds what "homeostat validate" finds in ${what}`, () => {
      const { diagnostics } = validator.validate([{ file: 'a.yaml', text }]);
      assert.deepEqual(checker.check(text, 'a.yaml'), diagnostics);
      if (what !== 'a valid definition') assert.ok(diagnostics.length > 0);
    });
  }

  test('tests are checked by their format', () => {
    assert.deepEqual(check(podsetTest), []);
    const [first] = check(podsetTest.replace('steps:', 'stpes:'));
    assert.equal(first?.[2], 'Unknown field "stpes"');
  });

  test('limits of random resources are checked by their format', () => {
    assert.deepEqual(
      check(`${fuzz}spec: { definition: a, skip: [idel] }\n`).map(([line, code]) => [line, code]),
      [[4, 'invalid-value']],
    );
  });

  test('files of other tools are not checked', () => {
    assert.deepEqual(check(configMap), []);
    assert.deepEqual(check('a: [\n'), []);
  });
});
