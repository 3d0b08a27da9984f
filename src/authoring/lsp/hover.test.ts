import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { editedText, operatorText } from '../../../test/support/lsp/marked-text.ts';
import { describe as describeAt } from './hover.ts';
import { loadKnowledge, withTexts } from './knowledge.ts';
import { parseText } from './parsed-text.ts';

const webApp = operatorText('web-app');
const database = operatorText('database');
const knowledge = await loadKnowledge();

const patches = `  patches:
    - id: mark
      forEach: \${ spec.links }
      target: { apiVersion: v1, kind: ConfigMap, name: "\${ $item.url }" }
      once: \${ $item.url }
      patch: { data: { text: "\${ $item.url }" } }
`;

function hoverAt({ text, offset }: { readonly text: string; readonly offset: number }) {
  const parsed = parseText(text);
  const found = describeAt(parsed, offset, withTexts(knowledge, [parsed]));
  return found && { markdown: found.markdown, word: text.slice(found.start, found.end) };
}

describe('lsp/hover', () => {
  for (const [what, text, part, written, word, expected] of [
    [
      'a field of the format',
      webApp,
      '  children:\n',
      '  chil|||dren:\n',
      'children',
      /^\*\*children\*\*: list of map\n\nObjects that the operator creates/,
    ],
    [
      'a default of the format',
      database,
      'deletionPolicy: Delete',
      'deletion|||Policy: Delete',
      'deletionPolicy',
      /^\*\*deletionPolicy\*\*: string, one of Delete, Orphan, default Delete\n\n/,
    ],
    [
      'a value of the format',
      database,
      'deletionPolicy: Delete',
      'deletionPolicy: Del|||ete',
      'Delete',
      /^\*\*deletionPolicy\*\*: /,
    ],
    [
      'a field of a manifest',
      database,
      'backoffLimit: 3',
      'backoff|||Limit: 3',
      'backoffLimit',
      /^\*\*backoffLimit\*\*: integer\n\nSpecifies the number of retries/,
    ],
    [
      'a field of a manifest in a flow map',
      webApp,
      'httpGet: { path: /,',
      'httpGet: { pa|||th: /,',
      'path',
      /^\*\*path\*\*: string\n\nPath to access/,
    ],
    [
      'a keyword of the CRD schema',
      webApp,
      'port: { type: integer, minimum',
      'port: { type: integer, mini|||mum',
      'minimum',
      /^\*\*minimum\*\*: number\n\nMinimum value/,
    ],
    [
      'a path with limits',
      webApp,
      'containerPort: "${ spec.port }"',
      'containerPort: "${ spec.po|||rt }"',
      'port',
      /^\*\*spec\.port\*\*: integer, minimum 1, maximum 65535, default 8080$/,
    ],
    [
      'a path with a description',
      webApp,
      'host: ${ spec.ingress.host }',
      'host: ${ spec.ingress.ho|||st }',
      'host',
      /^\*\*spec\.ingress\.host\*\*: string\n\nExposed under this name/,
    ],
    [
      'a child',
      webApp,
      'children.deployment.status.replicas',
      'children.depl|||oyment.status.replicas',
      'deployment',
      /^\*\*children\.deployment\*\*: map\n\nThe Deployment of this child/,
    ],
    [
      'a field of a child',
      webApp,
      'children.deployment.status.replicas',
      'children.deployment.status.repl|||icas',
      'replicas',
      /^\*\*children\.deployment\.status\.replicas\*\*: integer\n\n/,
    ],
    [
      'a function',
      webApp,
      '$hash(children',
      '$ha|||sh(children',
      '$hash',
      /^`\$hash\(value\)`: string\n\nA hash of ten/,
    ],
    [
      'a function of JSONata',
      database,
      '$merge([vars',
      '$me|||rge([vars',
      '$merge',
      /^`\$merge\(objects\)`: object\n\nOne object with the fields of all; .*\n\nExample: `\$merge\(.*\)` → `\{.*\}`$/,
    ],
    ['a block of Handlebars', webApp, '{{#each', '{{#ea|||ch', 'each', /^`\{\{#each value\}\}/],
    [
      'a field of an element of a block',
      webApp,
      '{{ url }}',
      '{{ u|||rl }}',
      'url',
      /^\*\*spec\.links\.url\*\*: string$/,
    ],
  ] as const) {
    test(`describes ${what}`, () => {
      const found = hoverAt(editedText(text, part, written));
      assert.equal(found?.word, word);
      assert.match(found?.markdown ?? '', expected);
    });
  }

  test('describes the element of a list that is a path', () => {
    const text = webApp
      .replace('- id: service', '- id: service\n      forEach: ${ spec.links }')
      .replace('port: 80, targetPort', 'port: 80, name: "${ $item.url }", targetPort');
    const offset = text.indexOf('$item.url') + '$item.u'.length;
    assert.equal(hoverAt({ text, offset })?.markdown, '**$item.url**: string');
  });

  for (const [where, written, expected] of [
    ['its target', 'name: "${ $item.u|||rl }"', '**$item.url**: string'],
    ['its fields', 'text: "${ $item.u|||rl }"', '**$item.url**: string'],
    ['its `once`', 'once: ${ $item.u|||rl }', '**$item.url**: string'],
  ] as const)
    test(`describes the element of a patch in ${where}`, () => {
      const text = webApp.replace('  children:\n', () => `${patches}  children:\n`);
      const found = hoverAt(editedText(text, written.replace('|||', ''), written));
      assert.equal(found?.markdown, expected);
    });

  for (const [name, what] of [
    ['settings', 'The Secret that is read'],
    ['[a, b]', 'The Secret objects that are read, a list in the order of their names'],
    ['${ spec.links.url }', 'The Secret objects that are read, a list in the order of their names'],
  ] as const)
    test(`describes a read whose name is ${name}`, () => {
      const read = `  reads: [{ id: found, apiVersion: v1, kind: Secret, name: "${name}" }]\n`;
      const text = webApp
        .replace(
          '  vars:\n',
          () => `${name === '[a, b]' ? read.replaceAll('"', '') : read}  vars:\n`,
        )
        .replace('image: ${ spec.image }', 'image: ${ reads.found.data.a }');
      const at = (offset: number) => hoverAt({ text, offset })?.markdown ?? '';
      const start = text.indexOf('reads.found.data');
      assert.equal(at(start + 'reads.f'.length), `**reads.found**: map\n\n${what}`);
      assert.match(
        at(start + 'reads.found.d'.length),
        /^\*\*reads\.found\.data\*\*: map of string/,
      );
    });

  test('describes a var that reads a later var', () => {
    const text = webApp.replace(
      '  vars:\n',
      '  vars:\n    first: ${ vars.second }\n    second: ${ spec.port }\n',
    );
    const changed = text.replace('image: ${ spec.image }', 'image: ${ vars.first }');
    const offset = changed.indexOf('vars.first') + 'vars.f'.length;
    assert.match(hoverAt({ text: changed, offset })?.markdown ?? '', /integer, minimum 1/);
  });

  for (const [what, part, written] of [
    ['a comment', '# Other files', '# Oth|||er files'],
    ['the text of a file', 'listen {{', 'lis|||ten {{'],
    ['an unknown field', '${ spec.image }', '${ spec.noth|||ing }'],
    ['white space between fields', '  vars:', ' ||| vars:'],
  ] as const) {
    test(`says nothing, or only what the field is, about ${what}`, () => {
      const found = hoverAt(editedText(webApp, part, written));
      assert.ok(found === undefined || /^\*\*(default\.conf|image)\*\*/.test(found.markdown));
    });
  }
});
