import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { InstanceText, type TextRole, templateOf } from './instance-text.ts';

const objects: readonly KubeObject[] = [
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } },
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web-db' } },
  { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'web-db' } },
];
const name = '${ metadata.name }';

/** The template of a text, and whether the name stays somewhere because it may mean something else. */
function converted(text: string, role: TextRole, isDistinctive: boolean) {
  const instance = { name: 'web', isDistinctive, hasLabel: true };
  const found = new InstanceText({ instance, objects, namespace: 'shop' }).find(text, role);
  return [templateOf(text, found.parts), found.isUncertain];
}

describe('simulation/convert: the name of the instance in a text', () => {
  for (const [text, role, expected, isUncertain] of [
    ['web', 'name', name, false],
    ['svc-web', 'name', `svc-${name}`, false],
    ['web', 'reference', name, false],
    ['web-tls', 'reference', `${name}-tls`, false],
    ['my-web', 'reference', 'my-web', true],
    ['web-fast', 'class', 'web-fast', true],
    ['web-db', 'class', `${name}-db`, false],
    ['web', 'label', name, false],
    ['web-1.2', 'label', 'web-1.2', true],
    ['web', 'text', name, false],
    ['run web now', 'text', 'run web now', true],
    ['webserver', 'text', 'webserver', false],
    ['http://web:80/web', 'text', `http://${name}:80/web`, true],
    ['web.shop.svc', 'text', `${name}.\${ metadata.namespace }.svc`, false],
    ['shop/web-db', 'text', `\${ metadata.namespace }/${name}-db`, false],
    ['web-db-0.web-db', 'text', `${name}-db-0.${name}-db`, false],
    [
      '$WEB_DB_PORT',
      'text',
      '${ "$" & $uppercase($replace(metadata.name, "-", "_")) }_DB_PORT',
      false,
    ],
    ['--namespace=shop', 'text', '--namespace=${ metadata.namespace }', false],
  ] as const)
    test(`another word, too: ${JSON.stringify(text)} as ${role}`, () => {
      const [template, uncertain] = converted(text, role, false);
      assert.deepEqual([template, uncertain], [expected, isUncertain]);
    });

  for (const [text, expected] of [
    ['run web now', `run ${name} now`],
    ['web_db', `${name}_db`],
    ['- web', `- ${name}`],
    ['web\n', '${ metadata.name & "\\n" }'],
    ['$web', '${ "$" & metadata.name }'],
    ['${A} {{ b }} web', `$\${A} \\{{ b }} ${name}`],
    ['$${A} web', `$$\${A} ${name}`],
    ['website', 'website'],
  ] as const)
    test(`no other word: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(converted(text, 'text', true), [expected, false]);
    });
});
