import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkDefinitions } from '#check';
import { bundledSchemas } from '#compile';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { importFiles } from '../import-files.ts';

/** A parent with what the customize hook has answered for it. */
interface Asked {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: JsonObject;
  readonly spec?: JsonObject;
  readonly related: readonly JsonObject[];
}

type Controller = 'namespaced' | 'cluster-scoped' | 'decorator';

/** Its parents are Widgets or, for a decorator, StatefulSets. */
function controllerOf(kind: Controller): string {
  const isDecorator = kind === 'decorator';
  const controller = {
    apiVersion: 'metacontroller.k8s.io/v1alpha1',
    kind: isDecorator ? 'DecoratorController' : 'CompositeController',
    metadata: { name: 'widgets' },
    spec: {
      ...(isDecorator
        ? { resources: [{ apiVersion: 'apps/v1', resource: 'statefulsets' }], attachments: [] }
        : { parentResource: { apiVersion: 'example.org/v1', resource: 'widgets' } }),
      hooks: { customize: { webhook: { url: 'http://widgets/customize' } } },
    },
  };
  const field = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.org' },
    spec: {
      group: 'example.org',
      names: { kind: 'Widget', plural: 'widgets' },
      scope: kind === 'cluster-scoped' ? 'Cluster' : 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: field } } },
        },
      ],
    },
  };
  return [controller, ...(isDecorator ? [] : [crd])]
    .map((each) => JSON.stringify(each))
    .join('\n---\n');
}

function answerFor({ name, namespace, labels, spec, related }: Asked, kind: Controller): Json {
  const parent = {
    ...(kind === 'decorator'
      ? { apiVersion: 'apps/v1', kind: 'StatefulSet' }
      : { apiVersion: 'example.org/v1', kind: 'Widget' }),
    metadata: { name, ...(namespace && { namespace }), ...(labels && { labels }) },
    ...(spec && { spec }),
  };
  return { request: { parent }, response: { relatedResources: related } } as unknown as Json;
}

/** The reads, and what the report says of each rule. */
function convert(asked: readonly Asked[], kind: Controller = 'namespaced') {
  const answers = asked.map((each) => JSON.stringify(answerFor(each, kind), undefined, 1));
  const { results } = importFiles([{ file: 'controller.yaml', text: controllerOf(kind) }], {
    answers: [{ file: 'answers.yaml', text: answers.join('\n---\n') }],
  });
  const [result] = results;
  const spec = result?.imported?.definition.spec;
  const { diagnostics } = checkDefinitions(
    [{ file: 'out.yaml', text: result?.imported?.text ?? '' }],
    { schemas: bundledSchemas() },
  );
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === 'error'),
    [],
  );
  const constructs = (result?.constructs ?? []).filter(({ name }) => name.startsWith('related'));
  return {
    reads: isJsonObject(spec) ? spec.reads : undefined,
    report: constructs.map(({ outcome, name, detail }) => `${outcome} ${name}: ${detail}`),
    constructs,
    text: result?.imported?.text ?? '',
  };
}

const secrets = { apiVersion: 'v1', resource: 'secrets' };
const configMaps = { apiVersion: 'v1', resource: 'configmaps' };
const secret = { apiVersion: 'v1', kind: 'Secret' };
const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };

describe('simulation/import/metacontroller/related-reads', () => {
  test('names that stand in the parent, or contain a value of it, are expressions', () => {
    const { reads, report } = convert([
      {
        name: 'a1',
        namespace: 'team-a',
        spec: { from: 'first' },
        related: [
          { ...secrets, names: ['first'] },
          { ...configMaps, names: ['a1-settings'], namespace: 'team-a' },
          { ...secrets, names: ['pull-team-a'] },
        ],
      },
      {
        name: 'b2',
        namespace: 'team-b',
        spec: { from: 'second' },
        related: [
          { ...secrets, names: ['second'] },
          { ...configMaps, names: ['b2-settings'], namespace: 'team-b' },
          { ...secrets, names: ['pull-team-b'] },
        ],
      },
    ]);
    assert.deepEqual(reads, [
      { id: 'secret', ...secret, name: '${ spec.from }' },
      { id: 'configMap', ...configMap, name: '${ metadata.name }-settings' },
      { id: 'secret2', ...secret, name: 'pull-${ metadata.namespace }' },
    ]);
    assert.deepEqual(report, [
      'approximated relatedResources[0]: as recorded: read from spec.from',
      'approximated relatedResources[1]: as recorded: read from metadata.name',
      'approximated relatedResources[2]: as recorded: read from metadata.namespace',
    ]);
  });

  test('values, keys and expressions of label selectors are computed from name, labels and spec', () => {
    const selectorOf = (name: string, tier: string, team: string) => ({
      matchLabels: { app: name, [`${team}.example.org/shared`]: 'true' },
      matchExpressions: [{ key: 'tier', operator: 'In', values: [tier, 'common'] }],
    });
    const { reads, report } = convert([
      {
        name: 'a',
        namespace: 'x',
        labels: { tier: 'gold' },
        spec: { team: 'red' },
        related: [{ ...configMaps, labelSelector: selectorOf('a', 'gold', 'red') }],
      },
      {
        name: 'b',
        namespace: 'x',
        labels: { tier: 'iron' },
        spec: { team: 'blue' },
        related: [{ ...configMaps, labelSelector: selectorOf('b', 'iron', 'blue') }],
      },
    ]);
    assert.deepEqual(reads, [
      {
        id: 'configMaps',
        ...configMap,
        selector: {
          matchLabels: { app: '${ metadata.name }', '${ spec.team }.example.org/shared': 'true' },
          matchExpressions: [
            { key: 'tier', operator: 'In', values: ['${ metadata.labels.tier }', 'common'] },
          ],
        },
      },
    ]);
    assert.match(report[0] ?? '', /read from metadata\.labels\.tier, metadata\.name, spec\.team;/);
  });

  test('one answer is enough for the name of the parent and for values that are equal to a field', () => {
    const { reads, report } = convert([
      {
        name: 'shop',
        namespace: 'default',
        spec: { sourceName: 'defaults-map' },
        related: [
          { ...configMaps, names: ['defaults-map'] },
          { ...secrets, names: ['shop-tls'] },
          { ...secrets, names: ['registry'] },
        ],
      },
    ]);
    assert.deepEqual(reads, [
      { id: 'configMap', ...configMap, name: '${ spec.sourceName }' },
      { id: 'secret', ...secret, name: '${ metadata.name }-tls' },
      { id: 'secret2', ...secret, name: 'registry' },
    ]);
    assert.deepEqual(
      report[2],
      'approximated relatedResources[2]: as recorded; literal: name; an answer for another parent shows whether they depend on it',
    );
  });

  test('rules correspond by kind and values, not by position, and each is one read', () => {
    const shared = { ...configMaps, names: ['shared'] };
    const { reads } = convert([
      { name: 'a', namespace: 'x', related: [shared, { ...configMaps, names: ['a'] }] },
      { name: 'b', namespace: 'x', related: [{ ...configMaps, names: ['b'] }, shared] },
    ]);
    assert.deepEqual(reads, [
      { id: 'configMap', ...configMap, name: 'shared' },
      { id: 'configMap2', ...configMap, name: '${ metadata.name }' },
    ]);
  });

  test('a value that differs for no visible reason is reported at its place', () => {
    const { constructs, text, report } = convert([
      { name: 'a', namespace: 'x', related: [{ ...secrets, names: ['k7f'] }] },
      { name: 'b', namespace: 'x', related: [{ ...secrets, names: ['p2q'] }] },
    ]);
    assert.deepEqual(report, [
      'approximated relatedResources[0]: as recorded; literal: name',
      'left out relatedResources[0].names: The answers differ, and no field of the parent shows why. Write the expression into read "secret"',
    ]);
    const [, { file, line } = { file: '', line: 0 }] = constructs;
    assert.deepEqual([file, line], ['answers.yaml', 17]);
    assert.match(text, /# TODO: secret: name: only known for some answers\n {2}reads:/);
  });

  test('several names are several reads; a list of the parent is a read by this list', () => {
    const { reads } = convert([
      { name: 'a', namespace: 'x', related: [{ ...secrets, names: ['a-tls', 'a-key'] }] },
      { name: 'b', namespace: 'x', related: [{ ...secrets, names: ['b-tls', 'b-key'] }] },
    ]);
    assert.deepEqual(reads, [
      { id: 'secret', ...secret, name: '${ metadata.name }-tls' },
      { id: 'secret2', ...secret, name: '${ metadata.name }-key' },
    ]);
    const items = [{ secret: { name: 'one' } }, { secret: { name: 'two' } }];
    const fromList = convert([
      {
        name: 'a',
        namespace: 'x',
        spec: { env: items },
        related: [{ ...secrets, names: ['one', 'two'] }],
      },
      {
        name: 'b',
        namespace: 'x',
        spec: { env: [{ secret: { name: 'six' } }] },
        related: [{ ...secrets, names: ['six'] }],
      },
    ]);
    assert.deepEqual(fromList.reads, [
      { id: 'secrets', ...secret, name: '${ [spec.env.secret.name] }', optional: true },
    ]);
    assert.deepEqual(fromList.report, [
      'approximated relatedResources[0]: as recorded: read from spec.env.secret.name',
    ]);
    const unknown = convert([
      { name: 'a', namespace: 'x', related: [{ ...secrets, names: ['one', 'two'] }] },
      { name: 'b', namespace: 'x', related: [{ ...secrets, names: ['six'] }] },
    ]);
    assert.deepEqual(unknown.reads, undefined);
    assert.match(unknown.report[0] ?? '', /^left out relatedResources\[0\]: The number of names/);
  });

  test('a rule that only some answers have follows the field that names it, or is noted', () => {
    const { reads, report } = convert([
      {
        name: 'a',
        namespace: 'x',
        spec: { tls: 'cert-1' },
        related: [
          { ...secrets, names: ['cert-1'] },
          { ...configMaps, labelSelector: { matchLabels: { a: 'b' } } },
        ],
      },
      { name: 'b', namespace: 'x', spec: {}, related: [] },
    ]);
    assert.deepEqual(reads, [
      { id: 'secret', ...secret, name: '${ spec.tls }' },
      { id: 'configMaps', ...configMap, selector: { matchLabels: { a: 'b' } } },
    ]);
    assert.match(report[1] ?? '', /only some answers have it; it is read for every resource$/);
  });

  test('the parent of a read without a namespace decides where it reads', () => {
    const all = { ...configMaps, labelSelector: {} };
    assert.deepEqual(convert([{ name: 'a', namespace: 'x', related: [all] }]).reads, [
      { id: 'configMaps', ...configMap, selector: 'all' },
    ]);
    const everywhere = { namespaces: '*', crossNamespace: true };
    assert.deepEqual(convert([{ name: 'a', related: [all] }], 'cluster-scoped').reads, [
      { id: 'configMaps', ...configMap, selector: 'all', ...everywhere },
    ]);
    const byName = convert(
      [{ name: 'a', related: [{ ...configMaps, names: ['a'] }] }],
      'cluster-scoped',
    );
    assert.deepEqual(byName.reads, undefined);
    assert.match(byName.report[0] ?? '', /^left out .* in all namespaces/);
  });

  test('a namespace of the parent is computed, and allowed by a glob', () => {
    const relatedOf = (namespace: string, name: string) => [
      { ...configMaps, namespace, names: [name] },
      { ...secrets, namespace },
    ];
    const { reads } = convert(
      [
        {
          name: 'a',
          spec: { namespace: 'global', source: 'motd' },
          related: relatedOf('global', 'motd'),
        },
        {
          name: 'b',
          spec: { namespace: 'other', source: 'info' },
          related: relatedOf('other', 'info'),
        },
      ],
      'cluster-scoped',
    );
    const place = { namespace: '${ spec.namespace }', crossNamespace: { namespaces: ['*'] } };
    assert.deepEqual(reads, [
      { id: 'configMap', ...configMap, name: '${ spec.source }', ...place },
      { id: 'secrets', ...secret, selector: 'all', ...place },
    ]);
  });

  test('a DecoratorController reads what its object names', () => {
    const specOf = (serviceName: string) => ({ serviceName });
    const { reads } = convert(
      [
        {
          name: 'db',
          namespace: 'x',
          spec: specOf('db-headless'),
          related: [{ apiVersion: 'v1', resource: 'services', names: ['db-headless'] }],
        },
        {
          name: 'mq',
          namespace: 'x',
          spec: specOf('queue'),
          related: [{ apiVersion: 'v1', resource: 'services', names: ['queue'] }],
        },
      ],
      'decorator',
    );
    assert.deepEqual(reads, [
      { id: 'service', apiVersion: 'v1', kind: 'Service', name: '${ spec.serviceName }' },
    ]);
  });

  test('labels and annotations of a decorator are explained by all answers', () => {
    const answer = (name: string, app: string, seconds: number) =>
      JSON.stringify({
        request: {
          object: {
            apiVersion: 'apps/v1',
            kind: 'StatefulSet',
            metadata: { name, namespace: 'x', labels: { app } },
            spec: { minReadySeconds: seconds },
          },
        },
        response: {
          labels: { 'example.org/app': app },
          annotations: { note: `of ${name}`, fixed: 'y' },
          attachments: [],
          resyncAfterSeconds: seconds,
        },
      });
    const { results } = importFiles(
      [{ file: 'controller.yaml', text: controllerOf('decorator') }],
      {
        answers: [
          {
            file: 'answers.yaml',
            text: `${answer('db', 'one', 10)}\n---\n${answer('mq', 'two', 20)}`,
          },
        ],
      },
    );
    const spec = results[0]?.imported?.definition.spec as JsonObject;
    assert.deepEqual(spec.patches, [
      {
        id: 'decoration',
        patch: {
          metadata: {
            labels: { 'example.org/app': '${ metadata.labels.app }' },
            annotations: { note: 'of ${ metadata.name }', fixed: 'y' },
          },
        },
      },
    ]);
    assert.equal(spec.requeueAfter, '${? spec.minReadySeconds & "s" }');
  });
});
