import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundledSchemas, compile, compileInstall, type OperatorPlan } from '#compile';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { installedMap, installing } from '../../../../test/support/installing.ts';

function locate(text: string) {
  const { definitions, diagnostics } = definitionParser.parse(text, 'thing.yaml');
  const [located] = definitions;
  assert.ok(located, JSON.stringify(diagnostics));
  return located;
}

function planOf(text: string): OperatorPlan {
  const { plan, diagnostics } = compile(locate(text), bundledSchemas());
  assert.ok(plan, JSON.stringify(diagnostics));
  return plan;
}

describe('compile/install', () => {
  const more = `  vars:
    used: { text: one }
    unused: \${ spec.text }
  reads:
    - { id: far, apiVersion: v1, kind: ConfigMap, name: "\${ vars.used.text }", namespace: default, crossNamespace: true, optional: true }
    - { id: near, apiVersion: v1, kind: ConfigMap, name: near }
`;

  test('a definition without objects of its own has no such plan, and its revision is that of before', () => {
    const plain = planOf(installing('thing', ''));
    assert.equal(plain.install, undefined);
    assert.equal('install' in plain.definition, false);
    assert.equal(plain.revision, '8b2255798e');
  });

  test('the plan has the objects as children without an owner reference, under a name of its own', () => {
    const { install } = planOf(installing('thing', installedMap('a', 'default')));
    assert.ok(install);
    assert.equal(install.name, 'thing.install');
    assert.equal(install.definition.name, 'thing');
    assert.equal(install.scope, 'Cluster');
    assert.equal(install.needsFinalizer, true);
    assert.deepEqual(
      install.children.map(({ id, isDetached }) => [id, isDetached]),
      [['a', true]],
    );
    assert.equal(install.tiers[0]?.[0], install.children[0]);
  });

  test('the name under which the longest names manage their objects is a label value, and their own', () => {
    const names = ['a', 'b'].map((end) => {
      const name = `${'n'.repeat(62)}${end}`;
      const text = installing(name, installedMap('a', 'default'));
      const { install } = planOf(text.replace(`group: ${name}.`, 'group: longest.'));
      return install?.name ?? '';
    });
    assert.equal(new Set(names).size, 2);
    for (const name of names) assert.match(name, /^(?=.{63}$)n{44}\.[0-9a-f]{10}\.install$/);
  });

  test('it has only the vars and reads that its objects use', () => {
    const entries = installedMap('a', 'default', { text: '"${ reads.far.data.a }"' });
    const { install } = planOf(installing('thing', entries, more));
    assert.deepEqual(Object.keys(install?.definition.vars ?? {}), ['used']);
    assert.deepEqual(
      install?.reads.map(({ id }) => id),
      ['far'],
    );
  });

  test('objects are in tiers, by expressions and "after"', () => {
    const entries = [
      installedMap('a', 'default', { more: 'after: [c]' }),
      installedMap('b', 'default', { text: '"${ children.a.metadata.uid }"' }),
      installedMap('c', 'default'),
    ].join('');
    const { install } = planOf(installing('thing', entries));
    assert.deepEqual(
      install?.tiers.map((tier) => tier.map(({ id }) => id)),
      [['c'], ['a'], ['b']],
    );
  });

  test('an edit of them changes the revision', () => {
    const revisionOf = (text: string) =>
      planOf(installing('thing', installedMap('a', 'default', { text }))).revision;
    assert.notEqual(revisionOf('one'), revisionOf('two'));
  });

  test('alone, they compile for a kind that is not known, and nothing desires nothing', () => {
    const { plan } = compileInstall(
      locate(installing('thing', installedMap('a', 'default'))),
      undefined,
    );
    assert.equal(plan?.children.length, 1);
    const none = compileInstall(locate(installing('thing', '')), undefined);
    assert.equal(none.plan?.children.length, 0);
    assert.equal(none.plan?.needsFinalizer, false);
  });
});
