import assert from 'node:assert/strict';
import { bundledSchemas, compile, type OperatorPlan } from '#compile';
import {
  type Cluster,
  KubeError,
  type MemberCluster,
  type MemberClusters,
  type PlacedCount,
} from '#kube/roles.ts';
import { gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { definitionParser } from '../definition-parser.ts';
import { FakeCluster } from './fake-cluster.ts';
import { OperatorHarness, types } from './operator-harness.ts';

const clusterKind = gvkOf('homeostat.dev/v1alpha1', 'Cluster');

/** A member cluster that the test connects and disconnects. */
export class FakeMember {
  readonly name: string;
  readonly uid: string;
  readonly cluster = new FakeCluster(types);
  /** Writes that came after the end of the connection. */
  readonly forbiddenWrites: string[] = [];
  /** Called before every write. */
  onWrite: (what: string) => void = () => undefined;
  connection: MemberCluster | undefined;

  constructor(name: string, uid: string) {
    this.name = name;
    this.uid = uid;
  }

  /** A connection with its own life: after its end every request fails. */
  connect(): void {
    this.cluster.loseEvents();
    this.cluster.fault = () => undefined;
    this.connection = { uid: this.uid, cluster: view(this) };
  }

  disconnect(): void {
    this.connection = undefined;
  }

  names(apiVersion: string, kind: string): readonly string[] {
    return this.cluster.server
      .list(gvkOf(apiVersion, kind))
      .map(({ object }) => object.metadata.name)
      .sort();
  }

  get(apiVersion: string, kind: string, name: string): KubeObject | undefined {
    return this.cluster.server.get(gvkOf(apiVersion, kind), 'default', name)?.object;
  }
}

/** The member as one connection reaches it. */
function view(member: FakeMember): Cluster {
  const { cluster } = member;
  const own = () => member.connection?.cluster;
  const through = async <T>(what: string, send: () => Promise<T>): Promise<T> => {
    if (own() !== opened) {
      if (!what.startsWith('get')) member.forbiddenWrites.push(what);
      throw new KubeError('connection-lost', 'The connection is closed', { status: 0 });
    }
    if (!what.startsWith('get')) member.onWrite(what);
    return send();
  };
  const opened: Cluster = {
    name: member.name,
    events: cluster.events,
    acquire: (query) => cluster.acquire(query),
    resourceFor: (gvk) => cluster.resourceFor(gvk),
    lookUp: (gvk) => cluster.lookUp(gvk),
    findKind: (kind) => cluster.findKind(kind),
    onGranted: (right, listener) => cluster.onGranted(right, listener),
    get: (ref, options, signal) =>
      through(`get ${ref.name}`, () => cluster.get(ref, options, signal)),
    managedFields: (ref) => through(`get ${ref.name}`, () => cluster.managedFields(ref)),
    apply: (manifest, options, signal) =>
      through(`apply ${manifest.metadata.name}`, () => cluster.apply(manifest, options, signal)),
    replace: (manifest, options, signal) =>
      through(`replace ${manifest.metadata.name}`, () =>
        cluster.replace(manifest, options, signal),
      ),
    editMetadata: (ref, options) =>
      through(`edit ${ref.name}`, () => cluster.editMetadata(ref, options)),
    delete: (ref, options, signal) =>
      through(`delete ${ref.name}`, () => cluster.delete(ref, options, signal)),
  };
  return opened;
}

class FakeMembers implements MemberClusters {
  readonly all = new Map<string, FakeMember>();
  readonly #listeners = new Set<(name: string) => void>();

  /** Not known before there is a member. */
  get hubUid(): string {
    return this.all.size === 0 ? '' : 'uid-of-the-hub';
  }

  /** Another object for each call, of the same connection. */
  get(name: string): MemberCluster | undefined {
    const connection = this.all.get(name)?.connection;
    return connection && { ...connection };
  }

  onChange(listener: (name: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Counts of objects in members, by definition. */
  readonly placedCounts = new Map<string, PlacedCount>();

  countPlaced(definition: string, countIn: PlacedCount): () => void {
    this.placedCounts.set(definition, countIn);
    return () => void this.placedCounts.delete(definition);
  }

  notify(name: string): void {
    for (const listener of [...this.#listeners]) listener(name);
  }
}

/** An operator on a hub with member clusters. */
export class MemberHarness extends OperatorHarness {
  readonly #members: FakeMembers;

  constructor(plan: OperatorPlan) {
    const members = new FakeMembers();
    super(plan, members);
    this.#members = members;
  }

  get placedCounts(): ReadonlyMap<string, PlacedCount> {
    return this.#members.placedCounts;
  }

  override deliver(): boolean {
    const reported = [...this.#members.all.values()].map(({ cluster }) => cluster.deliver());
    return [this.cluster.deliver(), ...reported].some(Boolean);
  }

  member(name: string): FakeMember {
    const found = this.#members.all.get(name);
    assert.ok(found, `Expected a member "${name}"`);
    return found;
  }

  /** A member, connected. */
  addMember(
    name: string,
    labels: Readonly<Record<string, string>> = {},
    uid = `${name}-uid-0000`,
  ): FakeMember {
    const member = new FakeMember(name, uid);
    this.#members.all.set(name, member);
    member.connect();
    this.label(name, labels);
    this.setConnected(name, true);
    this.#members.notify(name);
    return member;
  }

  /** Changes the labels of its object. */
  label(name: string, labels: Readonly<Record<string, string>>): void {
    const now = this.#object(name);
    this.cluster.server.put({
      ...now,
      apiVersion: 'homeostat.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { ...now?.metadata, name, labels },
    } as KubeObject);
  }

  /** What the hub says about the connection. */
  setConnected(name: string, isConnected: boolean): void {
    const now = this.#object(name);
    const status = isConnected ? 'True' : 'False';
    const reason = isConnected ? 'Connected' : 'Unreachable';
    const conditions = [{ type: 'Connected', status, reason }];
    const { uid } = this.member(name);
    this.cluster.server.put({ ...now, status: { uid, conditions } } as KubeObject);
  }

  /** The connection of the member ends. */
  disconnect(name: string): void {
    this.member(name).disconnect();
    this.#members.notify(name);
  }

  /** The member does not respond: its cluster runtime stops, and the hub reports it. */
  stopMember(name: string): void {
    this.disconnect(name);
    this.setConnected(name, false);
  }

  startMember(name: string): void {
    this.member(name).connect();
    this.setConnected(name, true);
    this.#members.notify(name);
  }

  /** Another cluster is behind the same name. */
  replaceMember(name: string, uid: string): FakeMember {
    this.stopMember(name);
    const labels = this.#object(name)?.metadata.labels ?? {};
    return this.addMember(name, labels, uid);
  }

  /** Its object of kind `Cluster` is deleted. */
  removeMember(name: string): void {
    this.member(name).disconnect();
    this.cluster.server.delete(clusterKind, { namespace: undefined, name });
    this.#members.notify(name);
  }

  #object(name: string): KubeObject | undefined {
    return this.cluster.server.get(clusterKind, undefined, name)?.object;
  }
}

const head = `
apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: podset }
spec:
  crd:
    group: apps.example.com
    names: { kind: PodSet, plural: podsets }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, x-kubernetes-preserve-unknown-fields: true }
              status: { type: object, x-kubernetes-preserve-unknown-fields: true }
`;

/** The plan of a definition of PodSets with this body. */
export function placedPlan(body: string): OperatorPlan {
  const { definitions, diagnostics } = definitionParser.parse(head + body, 'podset.yaml');
  const [located] = definitions;
  assert.ok(located, JSON.stringify(diagnostics));
  const result = compile(located, bundledSchemas());
  assert.ok(result.plan, JSON.stringify(result.diagnostics));
  return result.plan;
}
