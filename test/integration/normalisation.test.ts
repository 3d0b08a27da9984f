import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type SchemaType, schemaOfCustomResource } from '#compile';
import { covers, differences } from '#reconcile/intent/compare.ts';
import { fieldsOf } from '#reconcile/intent/difference.ts';
import { pathHash } from '#reconcile/intent/path-hash.ts';
import { prepare } from '#reconcile/intent/prepare.ts';
import { gvkKey, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { newestMinor, type PlaneClient, useControlPlane } from '../support/control-plane/index.ts';
import { isCustom, nameOf, readCorpus } from '../support/normalisation/corpus.ts';
import { type Mutation, mutationsOf } from '../support/normalisation/mutations.ts';
import { readServerSchemas } from '../support/normalisation/server-schemas.ts';
import { type Variant, variantsOf } from '../support/normalisation/variants.ts';

const applyType = 'application/apply-patch+yaml';
/** Admission adds a taint to an atomic list at creation; one apply removes it. */
const knownToDiffer = ['v1 Node /node-a'];
/** The server tells an empty list from none there, and forgets the difference; covered, so never applied while nothing changes. */
const alwaysWritten = [
  'admissionregistration.k8s.io/v1 MutatingWebhookConfiguration /mwc-corpus',
  'networking.k8s.io/v1 NetworkPolicy corpus/np-allow-all',
  'networking.k8s.io/v1 NetworkPolicy corpus/np-rules',
];
/** Names an owner that does not exist: the garbage collector deletes it sooner or later. */
const orphan = 'v1 ConfigMap corpus/cm-generate';

/**
 * Of spellings beyond the corpus: what the server does in a way that no table knows. Each costs one apply per process start.
 * Fields behind disabled gates and of unsupported kinds are dropped, some empty ones are filled.
 */
const restOfVariants = [
  /^Node: spec\.(taints|configSource)$/,
  /\.schedulingGroup$/,
  /^Service: spec\.sessionAffinityConfig$/,
  /^PersistentVolumeClaim: spec\.dataSource$/,
  /^CSIDriver: spec\.preventPodSchedulingIfMissing$/,
  /^Lease: spec\.(strategy|preferredHolder)$/,
  /^StatefulSet: spec\.updateStrategy\.rollingUpdate\.maxUnavailable$/,
  /^StatefulSet: spec\.volumeClaimTemplates\[\d\]\.(apiVersion|kind)$/,
  /\.serviceAccount(Name)?$/,
  /\.hostPort$/,
  /\.lifecycle\.stopSignal$/,
  /^ResourceSlice: spec\.devices\[\d\]\.capacity\./,
  /\.projected\.sources\[\d\]\.(podCertificate|clusterTrustBundle)$/,
  /^CustomResourceDefinition: spec\.conversion\.webhook$/,
];
/** A controller that is late writes between our look and our apply; it is not late so often. */
const triesToFindUnwritten = 20;
/** One in so many of all variants is tried. */
const variantStride = 23;

interface Case {
  readonly name: string;
  readonly manifest: KubeObject;
  readonly intent: KubeObject;
  readonly type: SchemaType;
  readonly hasStatus: boolean;
  readonly live: KubeObject;
}

const shared = useControlPlane();

// Its objects are those of the newest release.
shared.describe('integration/normalisation', { since: newestMinor }, () => {
  let cases: readonly Case[] = [];

  before(async () => {
    cases = await createCorpus(shared.client());
  });

  test('what a server makes of a manifest is covered by the prepared manifest', (t) => {
    const different = cases.filter(({ intent, live, type }) => !covers(intent, live, type));
    t.diagnostic(`covered: ${cases.length - different.length} of ${cases.length}`);
    const unexpected = different.filter(({ name }) => !knownToDiffer.includes(name));
    assert.deepEqual(
      unexpected.map(({ name, intent, live, type }) => ({
        name,
        fields: fieldsOf(differences(intent, live, type)),
      })),
      [],
    );
  });

  test('applying it again writes nothing, a few spellings apart', async (t) => {
    const written: string[] = [];
    for (const { name, intent } of cases) {
      if (name === orphan) continue;
      if (!(await staysUnwritten(shared.client(), intent))) written.push(name);
    }
    t.diagnostic(`written at every apply: ${written.join(', ') || 'none'}`);
    assert.deepEqual(written, alwaysWritten);
  });

  test('no change of what the intent says is missed, and no other change is noticed', (t) => {
    const wrong: string[] = [];
    const counts = new Map<string, number>();
    for (const { name, intent, live, type } of cases) {
      if (!covers(intent, live, type)) continue;
      for (const mutation of mutationsOf(intent, live, type)) {
        counts.set(mutation.what, (counts.get(mutation.what) ?? 0) + 1);
        const isSame = covers(intent, mutation.apply(live) as KubeObject, type);
        if (isSame !== (mutation.expect === 'same')) wrong.push(describeMutation(name, mutation));
      }
    }
    t.diagnostic(`mutations: ${JSON.stringify(Object.fromEntries(counts))}`);
    assert.deepEqual(wrong, []);
  });

  test('spellings beyond the corpus are covered too, a known rest apart', async (t) => {
    const variants = cases
      .flatMap((entry) => [...variantsOf(entry.manifest, entry.type)].map((v) => ({ entry, ...v })))
      .filter((_, index) => index % variantStride === 0);
    const counts = { tried: variants.length, accepted: 0, rest: 0 };
    const wrong: string[] = [];
    const tryNext = async (): Promise<void> => {
      for (let next = variants.pop(); next !== undefined; next = variants.pop()) {
        const outcome = await tryVariant(shared.client(), next.entry, next);
        if (outcome === undefined) continue;
        counts.accepted++;
        if (outcome.length === 0) continue;
        const unknown = outcome.filter((field) => !restOfVariants.some((rest) => rest.test(field)));
        counts.rest++;
        if (unknown.length > 0) wrong.push(`${next.entry.name} with ${next.what}: ${unknown}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, tryNext));
    t.diagnostic(`variants: ${JSON.stringify(counts)}`);
    assert.deepEqual(wrong, []);
    assert.ok(counts.accepted > counts.tried / 2);
  });

  test('every leaf that leaves the intent changes its path hash', (t) => {
    let leaves = 0;
    for (const { name, intent, type } of cases) {
      const hash = pathHash(intent, type);
      for (const mutation of mutationsOf(intent, intent, type)) {
        if (mutation.what !== 'removed') continue;
        leaves++;
        const smaller = mutation.apply(intent) as KubeObject;
        assert.notEqual(pathHash(smaller, type), hash, describeMutation(name, mutation));
      }
    }
    t.diagnostic(`leaves: ${leaves}`);
  });

  test('a CRD alone gives the type that the server publishes', () => {
    const crds = cases.filter(({ live }) => live.kind === 'CustomResourceDefinition');
    for (const { live } of crds) {
      const { group, names, versions } = live.spec as CrdSpec;
      const [version] = versions;
      assert.ok(version !== undefined);
      const gvk = { group, version: version.name, kind: names.kind };
      const published = cases.find(({ live: object }) => object.kind === names.kind)?.type;
      const own = schemaOfCustomResource(version.schema.openAPIV3Schema, gvk);
      assert.deepEqual(own, published, names.kind);
    }
    assert.equal(crds.length, 3);
  });
});

interface CrdSpec {
  readonly group: string;
  readonly names: { readonly kind: string; readonly plural: string };
  readonly versions: readonly {
    readonly name: string;
    readonly schema: { readonly openAPIV3Schema: object };
  }[];
}

function describeMutation(name: string, { what, path, expect }: Mutation): string {
  return `${name}: ${what} at ${path.join('.')}, must be ${expect}`;
}

/** Applies the corpus, each object by an apply that only creates, and reads it when controllers have looked at it. */
async function createCorpus(client: PlaneClient): Promise<readonly Case[]> {
  const manifests = readCorpus();
  const [custom, builtIn] = [manifests.filter(isCustom), manifests.filter((m) => !isCustom(m))];
  // Custom kinds have schemas only when their CRDs are there.
  const builtInCases = await createAll(client, builtIn);
  const customCases = await createAll(client, custom);
  await untilControllersHaveLooked(client);
  return Promise.all(
    [...builtInCases, ...customCases].map(async (entry) => ({
      ...entry,
      live: (await client.get(await client.pathOf(entry.intent))) ?? entry.live,
    })),
  );
}

async function createAll(
  client: PlaneClient,
  manifests: readonly KubeObject[],
): Promise<readonly Case[]> {
  const kinds = manifests.map(({ apiVersion, kind }) => gvkKey(gvkOf(apiVersion, kind)));
  const schemas = await readServerSchemas(client, kinds);
  const created: Case[] = [];
  for (const manifest of manifests) {
    const gvk = gvkOf(manifest.apiVersion, manifest.kind);
    const type = schemas.typeOf(gvk);
    assert.ok(type !== undefined, `Expected a schema of ${nameOf(manifest)}`);
    const hasStatus = schemas.hasStatus(gvk);
    const intent = prepare(manifest, type, { hasStatus });
    const live = await client.apply({
      ...intent,
      metadata: { ...intent.metadata, resourceVersion: '1' },
    });
    if (intent.kind === 'CustomResourceDefinition') await untilServed(client, live);
    created.push({ name: nameOf(manifest), manifest, intent, type, hasStatus, live });
  }
  return created;
}

async function untilServed(client: PlaneClient, crd: KubeObject): Promise<void> {
  const { group, names } = crd.spec as CrdSpec;
  await client.untilList(`/apis/${group}/v1/${names.plural}`, () => true);
}

async function untilControllersHaveLooked(client: PlaneClient): Promise<void> {
  for (const plural of ['deployments', 'statefulsets', 'daemonsets', 'replicasets']) {
    await client.untilList(`/apis/apps/v1/${plural}`, (objects) =>
      objects.every(({ metadata, status }) => {
        const { observedGeneration } = (status ?? {}) as { observedGeneration?: number };
        return observedGeneration === metadata.generation;
      }),
    );
  }
}

/** The fields that differ (`Kind: field`) when the variant is created; undefined when the server rejects it. */
async function tryVariant(
  client: PlaneClient,
  { type, hasStatus }: Case,
  { manifest }: Variant,
): Promise<readonly string[] | undefined> {
  const intent = prepare(manifest, type, { hasStatus });
  const isNamedByContent = intent.kind === 'CustomResourceDefinition';
  const name = `${intent.metadata.name}${isNamedByContent ? '' : 'x'}`;
  const body = { ...intent, metadata: { ...intent.metadata, name } };
  const path = `${await client.pathOf(body)}?fieldManager=test&force=true&dryRun=All`;
  try {
    const answer = await client.request({ method: 'PATCH', path, body, contentType: applyType });
    if (answer.status >= 300) return undefined;
    const found = differences(body, answer.body as KubeObject, type);
    return fieldsOf(found).map((field) => `${intent.kind}: ${field}`);
  } catch {
    // Some nonsense makes the server panic and cut the connection.
    return undefined;
  }
}

/** Controllers write too: only what is written at every try is written by the apply itself. */
async function staysUnwritten(client: PlaneClient, intent: KubeObject): Promise<boolean> {
  const path = await client.pathOf(intent);
  for (let attempt = 0; attempt < triesToFindUnwritten; attempt++) {
    const earlier = await client.get(path);
    const answer = await client.apply(intent);
    if (answer.metadata.resourceVersion === earlier?.metadata.resourceVersion) return true;
  }
  return false;
}
