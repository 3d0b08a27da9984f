import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkDefinitions } from '#check';
import { bundledSchemas } from '#compile';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { importFiles } from './import-files.ts';

/** A ResourceGraphDefinition with these resources (and `schema.spec`). */
function graph(resources: string, spec = '{ "on": boolean }'): string {
  return `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: { name: graph }
spec:
  schema: { apiVersion: v1, group: example.org, kind: Graph, spec: ${spec} }
  resources:
${resources.replaceAll(/^/gm, '    ')}
`;
}

function convert(text: string) {
  const [result] = importFiles([{ file: 'graph.yaml', text }]).results;
  assert.ok(result);
  const left = result.constructs
    .filter(({ outcome }) => outcome !== 'converted')
    .map(({ line, column, detail }) => `${line}:${column} ${detail}`);
  const spec = result.imported?.definition.spec;
  const manifest = { file: 'out.yaml', text: result.imported?.text ?? '' };
  const { diagnostics } = checkDefinitions([manifest], { schemas: bundledSchemas() });
  // What is left out may leave a definition incomplete, but never wrong.
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === 'error'),
    [],
  );
  return { spec: isJsonObject(spec) ? spec : {}, left };
}

function childrenOf(spec: JsonObject): readonly JsonObject[] {
  return Array.isArray(spec.children) ? spec.children.filter(isJsonObject) : [];
}

const config = (id: string, data: string, more = '') => `- id: ${id}
${more}  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: { name: "\${schema.metadata.name}-${id}" }
    data: { x: '${data}' }
`;

describe('simulation/import/import-files', () => {
  test('files can contain graphs, their instances, and other documents', () => {
    const text = `${graph(config('a', 'y'))}---
apiVersion: example.org/v1
kind: Graph
metadata: { name: one }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: other }
`;
    const { results, ignored, syntaxErrors } = importFiles([{ file: 'all.yaml', text }]);
    assert.deepEqual(
      results.map(({ name, samples }) => [name, samples.map(({ metadata }) => metadata.name)]),
      [['graph', ['one']]],
    );
    assert.deepEqual(
      ignored.map(({ value, source }) => [value.kind, source.valueAt('').line]),
      [['ConfigMap', 19]],
    );
    assert.deepEqual(syntaxErrors, []);
  });

  test('a file with a syntax error is not converted, another one is', () => {
    const { results, syntaxErrors } = importFiles([
      { file: 'bad.yaml', text: 'a: [' },
      { file: 'good.yaml', text: graph(config('a', 'y')) },
    ]);
    assert.deepEqual(
      results.map(({ file }) => file),
      ['good.yaml'],
    );
    assert.deepEqual([...new Set(syntaxErrors.map(({ file }) => file))], ['bad.yaml']);
  });

  test('a graph without a schema has nothing to run', () => {
    const text = 'apiVersion: kro.run/v1alpha1\nkind: ResourceGraphDefinition\nspec: {}\n';
    const { results } = importFiles([{ file: 'empty.yaml', text }]);
    assert.deepEqual(
      results.map(({ imported, constructs }) => [imported, constructs.length]),
      [[undefined, 1]],
    );
  });

  test('what depends on a resource that is left out is left out, too', () => {
    const { spec, left } = convert(
      graph(
        config('first', 'y', "  includeWhen: ['${isURL(schema.spec.on)}']\n") +
          config('second', '${first.data.x}') +
          config('third', 'z'),
      ),
    );
    assert.deepEqual(
      childrenOf(spec).map(({ id }) => id),
      ['third'],
    );
    assert.deepEqual(left, [
      '7:7 Its "includeWhen" has no equivalent',
      '8:24 The function "isURL" has no equivalent',
      '14:7 It depends on resource "first", which is not converted',
      '19:23 Resource "first" is not converted',
    ]);
  });

  test('a child waits for readiness only where kro does', () => {
    const service = config('plain', 'y')
      .replace('ConfigMap', 'Service')
      .replace(/^ {4}data: .*/m, '    spec: { ports: [{ port: 80 }] }');
    const ready = '  readyWhen: [\'${web.data.x == "y"}\']\n';
    const { spec, left } = convert(
      graph(
        config('web', 'y', ready) +
          service +
          config('after', '${web.data.x}') +
          config('exists', '${plain.metadata.name}') +
          config('status', '${plain.status.loadBalancer.ingress[0].ip}'),
      ),
    );
    assert.deepEqual(left, []);
    assert.deepEqual(
      childrenOf(spec).map(({ id, after, ready: own }) => [id, after, own]),
      [
        ['web', undefined, '${ $child.data.x = "y" }'],
        ['plain', undefined, '${ $exists($child.status.loadBalancer.ingress[0].ip) }'],
        ['after', ['web'], undefined],
        ['exists', undefined, undefined],
        ['status', ['plain'], undefined],
      ],
    );
  });

  test('a condition on a field without a default is false while the field is missing', () => {
    const { spec } = convert(graph(config('a', 'y', "  includeWhen: ['${schema.spec.on}']\n")));
    assert.deepEqual(
      childrenOf(spec).map(({ when }) => when),
      ['${ spec.on ?? false }'],
    );
  });

  describe('an external reference', () => {
    const reference = (metadata: string, kind = 'ConfigMap', more = '') =>
      `- { id: ref, ${more}externalRef: { apiVersion: v1, kind: ${kind}, metadata: ${metadata} } }`;

    for (const [metadata, read] of [
      ['{ name: a }', { name: 'a' }],
      ['{ name: a, namespace: "" }', { name: 'a' }],
      ['{ name: a, namespace: "${schema.metadata.namespace}" }', { name: 'a' }],
      ['{ name: a, namespace: shared }', { name: 'a', namespace: 'shared', crossNamespace: true }],
      [
        '{ name: a, namespace: "team-${schema.metadata.name}" }',
        {
          name: 'a',
          namespace: 'team-${ metadata.name }',
          crossNamespace: { namespaces: ['team-*'] },
        },
      ],
      ['{ selector: {} }', { selector: 'all', namespaces: '*', crossNamespace: true }],
      [
        '{ selector: { matchLabels: { a: b } }, namespace: x }',
        { selector: { matchLabels: { a: 'b' } }, namespace: 'x', crossNamespace: true },
      ],
    ] as const)
      test(`${metadata} becomes a read`, () => {
        const { spec } = convert(graph(reference(metadata)));
        assert.deepEqual(spec.reads, [{ id: 'ref', apiVersion: 'v1', kind: 'ConfigMap', ...read }]);
      });

    test('to a cluster-scoped kind has no namespace', () => {
      const { spec } = convert(graph(reference('{ selector: { matchLabels: { a: b } } }', 'Node')));
      const selector = { matchLabels: { a: 'b' } };
      assert.deepEqual(spec.reads, [{ id: 'ref', apiVersion: 'v1', kind: 'Node', selector }]);
    });

    test('with a condition is optional, and its users have the condition', () => {
      const text = reference('{ name: a }', 'ConfigMap', "includeWhen: ['${schema.spec.on}'], ");
      const { spec, left } = convert(graph(`${text}\n${config('user', '${ref.data.x}')}`));
      assert.deepEqual(spec.reads, [
        { id: 'ref', apiVersion: 'v1', kind: 'ConfigMap', name: 'a', optional: true },
      ]);
      assert.equal(childrenOf(spec)[0]?.when, '${ spec.on ?? false }');
      assert.match(left.join(), /the object is read in any case/);
    });

    test('is not awaited field by field, which is reported', () => {
      const { left } = convert(
        graph(
          `${reference('{ name: a }')}\n${config('b', '${ref.data.x}')}${config('c', '${ref.data.?x}')}`,
        ),
      );
      assert.deepEqual(left, [
        '13:20 left out while the object lacks the field, for which kro waits',
      ]);
    });

    test('with readiness is reported: a read has none', () => {
      const text = reference('{ name: a }', 'ConfigMap', 'readyWhen: [\'${ref.data.x != ""}\'], ');
      assert.match(convert(graph(text)).left.join(), /^7:33 A read has no readiness/);
    });
  });

  test('unknown fields are reported', () => {
    const { left } = convert(
      graph(config('a', 'y', '  ignoreWhen: []\n')).replace(
        '  resources:',
        '  extra: 1\n  resources:',
      ),
    );
    assert.deepEqual(left, [
      '6:3 The field "extra" is not known',
      '9:7 The field "ignoreWhen" is not known',
    ]);
  });

  for (const [field, message] of [
    ['"string | default"', '5:82 Expected "marker=value"'],
    ['"integer | default=many"', '5:83 The marker "default=many" is not known for type "integer"'],
    ['"boolean | default=yes"', '5:83 The marker "default=yes" is not known for type "boolean"'],
    ['"[]Missing"', '5:71 There is no type "Missing"'],
    ['[1]', '5:71 A field is a text such as "string", or a map of fields'],
  ] as const)
    test(`the field ${field} is reported at its place`, () => {
      const { left } = convert(graph(config('a', 'y'), `{ f: ${field} }`));
      assert.equal(left.length, 1);
      assert.equal(left[0]?.replace(/^5:\d+/, ''), message.replace(/^5:\d+/, ''));
      assert.match(left[0] ?? '', /^5:\d+ /);
    });

  test('a type that contains itself is reported', () => {
    const text = graph(config('a', 'y'), '{ f: Loop }').replace(
      'spec: { f',
      'types: { Loop: { next: Loop } }, spec: { f',
    );
    assert.match(convert(text).left.join(), /Type "Loop" contains itself/);
  });

  test('a long id is shortened wherever it is used', () => {
    const id = 'theconfigurationofthewholeapplicationinoneobject';
    const short = 'theconfigurationofthewholeapplTAIL';
    const { spec, left } = convert(
      graph(
        config(id, 'y', `  readyWhen: ['\${${id}.data.x == "y"}']\n`) +
          config('b', `\${${id}.data.x}`),
      ),
    );
    const tail = /appl([0-9a-f]{10})"/.exec(left.join())?.[1] ?? '';
    const expected = short.replace('TAIL', tail);
    const [first, second] = childrenOf(spec);
    assert.deepEqual([first?.id, second?.after], [expected, [expected]]);
    assert.match(JSON.stringify(second), new RegExp(`\\{ children\\.${expected}\\.data\\.x }`));
  });

  test('a template without a name is reported', () => {
    const text = graph('- { id: a, template: { apiVersion: v1, kind: ConfigMap } }\n');
    assert.deepEqual(convert(text).left, ['7:7 The template has no "metadata.name"']);
  });

  test('names of definitions are DNS labels', () => {
    const text = graph(config('a', 'y')).replace('name: graph', 'name: My.Graph');
    assert.match(convert(text).left.join(), /a DNS label: "my-graph"/);
  });

  test('a Composition without its definition says what to add', () => {
    const text = `apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: { name: lonely }
spec: { compositeTypeRef: { apiVersion: example.org/v1, kind: XThing }, resources: [] }
`;
    const { results } = importFiles([{ file: 'lonely.yaml', text }]);
    assert.deepEqual(
      results.map(({ imported, constructs }) => [imported, constructs.map(({ detail }) => detail)]),
      [
        [
          undefined,
          [
            'The files have no CompositeResourceDefinition of this kind. Add the output of "kubectl get xrd NAME -o yaml"',
          ],
        ],
      ],
    );
  });

  describe('an answer of a hook', () => {
    const controller = `apiVersion: metacontroller.k8s.io/v1alpha1
kind: DecoratorController
metadata: { name: decorate }
spec:
  resources: [{ apiVersion: v1, resource: services, labelSelector: { matchLabels: { a: b } } }]
  attachments: [{ apiVersion: v1, resource: configmaps, updateStrategy: { method: InPlace } }]
  hooks: { sync: { webhook: { url: "http://decorate.hooks/sync" } } }
`;
    const service = `{ apiVersion: v1, kind: Service, metadata: { name: web, namespace: x }, spec: { type: ClusterIP, clusterIP: None } }`;
    const response = `{ attachments: [{ apiVersion: v1, kind: ConfigMap, metadata: { name: web-info }, data: { type: ClusterIP, other: value } }] }`;
    const childOf = (answers: string, files = controller) => {
      const { results } = importFiles([{ file: 'c.yaml', text: files }], {
        answers: [{ file: 'a.yaml', text: answers }],
      });
      const spec = results[0]?.imported?.definition.spec;
      return childrenOf(isJsonObject(spec) ? spec : {}).map(({ template }) => template);
    };
    const expected = [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: '${ metadata.name }-info' },
        data: { type: '${ spec.type }', other: 'value' },
      },
    ];

    test('is a pair, a request and its response, or a response for the only resource', () => {
      const pair = `request: { object: ${service} }\nresponse: ${response}\n`;
      assert.deepEqual(childOf(pair), expected);
      assert.deepEqual(childOf(`object: ${service}\n---\n${response}\n`), expected);
      assert.deepEqual(childOf(`${response}\n`, `${controller}---\n${service}\n`), expected);
    });

    test('with a syntax error is reported', () => {
      const { syntaxErrors } = importFiles([{ file: 'c.yaml', text: controller }], {
        answers: [{ file: 'a.yaml', text: 'response: [' }],
      });
      assert.deepEqual([...new Set(syntaxErrors.map(({ file }) => file))], ['a.yaml']);
    });

    test('for another kind is not used', () => {
      const pair = `request: { object: { apiVersion: v1, kind: Pod, metadata: { name: web } } }\nresponse: ${response}\n`;
      const skeleton = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: '${ metadata.name }' },
      };
      assert.deepEqual(childOf(pair), [skeleton]);
    });
  });
});
