import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { definitionParser } from '../../../../test/support/definition-parser.ts';
import { thingDefinition } from '../../../../test/support/definitions.ts';
import type { DefinitionOrigin } from '../desired-definition.ts';
import type { NamedDocument } from './parsed-manifest.ts';
import { noteAnnotations, publicationOf } from './publication.ts';
import { type OriginState, type PlanOptions, planStep } from './publish-plan.ts';

const [parsed] = definitionParser.parse(
  thingDefinition('web', '  children: []\n'),
  'web.yaml',
).documents;
const located = parsed?.located ?? assert.fail('Expected a definition');

const runtime = 'here.homeostat';
const nowMs = Date.parse('2026-01-01T01:00:00Z');
const deleteDelayMs = 600_000;
const [a, b, other]: readonly DefinitionOrigin[] = [
  { source: 'configmap', ref: 'ops/a/web.yaml' },
  { source: 'configmap', ref: 'ops/b/web.yaml' },
  { source: 'directory', ref: '/elsewhere/web.yaml' },
] as const;

function claim(origin: DefinitionOrigin, { sinceMs = 1, isValid = true } = {}): NamedDocument {
  const file = `${origin.source} ${origin.ref}`;
  return {
    name: 'web',
    manifest: { file, text: '', origin, sinceMs },
    ...(isValid && { located }),
    errors: isValid ? [] : ['web.yaml:1:1: Unknown field'],
    warnings: [],
    controls: {},
  };
}

function published(origin: DefinitionOrigin, metadata: object = {}, by = runtime): KubeObject {
  const object = publicationOf({ name: 'web', origin, runtime: by, document: located.document });
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

const users: KubeObject = { apiVersion: '', kind: '', metadata: { name: 'web' }, spec: {} };
const withdrawn = (agoMs: number) =>
  published(a, {
    annotations: {
      ...published(a).metadata.annotations,
      ...noteAnnotations({ withdrawnAtMs: nowMs - agoMs }),
    },
  });

/** The manifests of a place in that state. */
function manifestsIn(
  state: OriginState,
  {
    sourceError,
    errors = [],
  }: { readonly sourceError?: string; readonly errors?: readonly string[] } = {},
): PlanOptions['manifests'] {
  return {
    originState: () => state,
    sourceError: () => sourceError,
    obstacles: () => errors,
  };
}

function plan(options: Partial<PlanOptions>): string {
  const { step, rejected: lost } = planStep({
    live: undefined,
    claims: [],
    runtime,
    manifests: manifestsIn('read'),
    nowMs,
    deleteDelayMs,
    ...options,
  });
  const words = [
    step.kind,
    ...('document' in step ? [step.document.manifest.file] : []),
    ...('errors' in step ? step.errors : []),
    ...(step.kind === 'wait' ? [String(step.forMs)] : []),
  ];
  const losers = lost.map(({ manifest, message }) => {
    const which = `The definition "web" in ${manifest.file} (${manifest.file}) is not published: `;
    assert.ok(message.startsWith(which));
    return `${manifest.file} (${message.slice(which.length)})`;
  });
  return [words.join(' '), ...losers].join(', lost: ');
}

const cases: readonly (readonly [string, Partial<PlanOptions>, string])[] = [
  ['nothing at all', {}, 'none'],
  ['a text that is new', { claims: [claim(a)] }, 'publish configmap ops/a/web.yaml'],
  [
    'a text of which nothing was ever good',
    { claims: [claim(a, { isValid: false })] },
    'reject configmap ops/a/web.yaml',
  ],
  [
    'a text that has its object',
    { claims: [claim(a)], live: published(a) },
    'publish configmap ops/a/web.yaml',
  ],
  [
    'a mistake in the newest text',
    { claims: [claim(a, { isValid: false })], live: published(a) },
    'reject configmap ops/a/web.yaml',
  ],
  [
    'of two new texts the older one has the name',
    { claims: [claim(a, { sinceMs: 2 }), claim(b, { sinceMs: 1 })] },
    'publish configmap ops/b/web.yaml, lost: configmap ops/a/web.yaml (the name is published from configmap ops/b/web.yaml)',
  ],
  [
    'the source that has the object keeps the name, however old another manifest is',
    { claims: [claim(a, { sinceMs: 2 }), claim(b, { sinceMs: 1 })], live: published(a) },
    'publish configmap ops/a/web.yaml, lost: configmap ops/b/web.yaml (the name is published from configmap ops/a/web.yaml)',
  ],
  [
    'a mistake does not cost the name',
    { claims: [claim(a, { isValid: false }), claim(b)], live: published(a) },
    'reject configmap ops/a/web.yaml, lost: configmap ops/b/web.yaml (the name is published from configmap ops/a/web.yaml)',
  ],
  [
    'a text takes over from one that is gone',
    { claims: [claim(b)], live: published(a) },
    'publish configmap ops/b/web.yaml',
  ],
  [
    'but not while that may still be there',
    { claims: [claim(b)], live: published(a), manifests: manifestsIn('unknown') },
    'none, lost: configmap ops/b/web.yaml (the name is published from configmap ops/a/web.yaml)',
  ],
  [
    'an object of a user belongs to the user',
    { claims: [claim(a)], live: users },
    'none, lost: configmap ops/a/web.yaml (a user created an OperatorDefinition of that name)',
  ],
  [
    'an object of another runtime belongs to that',
    { claims: [claim(a)], live: published(other, {}, 'there') },
    'none, lost: configmap ops/a/web.yaml (the OperatorDefinition of that name belongs to the runtime "there"; if that no longer runs, "--take-over there" continues it)',
  ],
  ['an object of another runtime without a text here', { live: published(a, {}, 'there') }, 'none'],
  ['a text that is gone', { live: published(a) }, 'withdraw'],
  [
    'a place that cannot be read, or has mistakes',
    { live: published(a), manifests: manifestsIn('unknown') },
    'none',
  ],
  [
    'a text with errors that may still have it',
    { live: published(a), manifests: manifestsIn('unknown', { errors: ['web.yaml:1:1: x'] }) },
    'note-unreadable web.yaml:1:1: x',
  ],
  [
    'a text whose source cannot be read any more',
    {
      claims: [claim(a)],
      live: published(a),
      manifests: manifestsIn('unknown', { sourceError: 'Cannot read "ops"' }),
    },
    'note-unreadable Cannot read "ops"',
  ],
  [
    'a text that is gone beside another one with errors in a place that is known',
    { live: published(a), manifests: manifestsIn('read', { errors: ['x'] }) },
    'withdraw',
  ],
  [
    'a place that is not read here',
    { live: published(a), manifests: manifestsIn('elsewhere') },
    'none',
  ],
  [
    'a text takes over from one that is not read here any more',
    { claims: [claim(b)], live: published(a), manifests: manifestsIn('elsewhere') },
    'publish configmap ops/b/web.yaml',
  ],
  ['withdrawn a minute ago', { live: withdrawn(60_000) }, 'wait 540000'],
  ['withdrawn ten minutes ago', { live: withdrawn(600_000) }, 'delete'],
  [
    'a text that comes back',
    { claims: [claim(a)], live: withdrawn(60_000) },
    'publish configmap ops/a/web.yaml',
  ],
  [
    'an object that is being deleted',
    { claims: [claim(a)], live: published(a, { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    'none',
  ],
];

describe('runtime/publish/publish-plan', () => {
  for (const [name, options, expected] of cases)
    test(name, () => assert.equal(plan(options), expected));
});
