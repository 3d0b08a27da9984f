import type { KubeCluster } from '#kube';
import { KubeError, type ResourceType } from '#kube/roles.ts';
import { leaseGvk } from '#runtime/leadership/lease.ts';
import type { ConnectMember, MemberClient } from '#runtime/members/member-connection.ts';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import { ShadowCluster } from './shadow-cluster.ts';

const kind = (gvk: Gvk, plural: string, namespaced: boolean): ResourceType => {
  return { gvk, plural, namespaced, hasStatus: false, verbs: [] };
};
/** Kinds that hubs need in a member, and one more for definitions. */
export const memberKinds: readonly ResourceType[] = [
  kind(gvkOf('v1', 'Namespace'), 'namespaces', false),
  kind(gvkOf('v1', 'ServiceAccount'), 'serviceaccounts', true),
  kind(leaseGvk, 'leases', true),
];

/** A cluster that hubs use as a member. */
export class SharedMember {
  readonly name: string;
  readonly uid: string;
  /** As its users see it. */
  readonly cluster = new ShadowCluster(memberKinds);

  constructor(name: string, uid: string) {
    this.name = name;
    this.uid = uid;
  }

  /** UID of the hub that has the Lease of a definition. Undefined: none has it. */
  holderOf(definition: string): string | undefined {
    const lease = this.cluster.server.get(leaseGvk, 'kube-system', `homeostat-${definition}`);
    const spec = lease?.object.spec as { readonly holderIdentity?: string } | undefined;
    return spec?.holderIdentity;
  }
}

interface Connection {
  readonly cluster: ShadowCluster;
  isOpen: boolean;
  readonly onLost: () => void;
}

/** How one hub reaches a member. Each connection is a client of its own: after its end no request arrives and no event comes. */
export class MemberLink {
  readonly member: SharedMember;
  readonly #connections = new Set<Connection>();
  #isUp = true;
  /** Awaited before the first response of a connection. */
  contact: () => Promise<void> = () => Promise.resolve();
  /** Called with each connection before it is used. */
  onOpen: (cluster: ShadowCluster) => void = () => undefined;
  /** Connections since {@link record}. */
  #recorded: ShadowCluster[] = [];

  constructor(member: SharedMember) {
    this.member = member;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** The connections that are open. */
  get clusters(): readonly ShadowCluster[] {
    return Array.from(this.#connections, ({ cluster }) => cluster);
  }

  /** Returns what the hub has written there since now, once. */
  record(): () => readonly string[] {
    const recorded: ShadowCluster[] = [];
    this.#recorded = recorded;
    return () => recorded.flatMap((cluster) => cluster.takeWrites());
  }

  deliver(): boolean {
    return this.clusters.map((cluster) => cluster.deliver()).some(Boolean);
  }

  /** The hub can reach it again. */
  restore(): void {
    this.#isUp = true;
  }

  /** The hub cannot reach it any more. */
  cut(): void {
    this.#isUp = false;
    for (const connection of [...this.#connections]) {
      this.#end(connection);
      connection.onLost();
    }
  }

  /** The process of the hub is killed: nothing that it still sends arrives. */
  kill(): void {
    for (const connection of [...this.#connections]) this.#end(connection);
  }

  connect(options: Parameters<ConnectMember>[1]): MemberClient {
    const cluster = new ShadowCluster(memberKinds, this.member.cluster.server);
    const onLost = () => options.onLost?.('outage');
    const connection: Connection = { cluster, isOpen: true, onLost };
    this.#connections.add(connection);
    const assertUp = () => {
      if (!this.#isUp || !connection.isOpen)
        throw new KubeError('connection-lost', 'The connection is closed', { status: 0 });
    };
    const request = async ({ path }: { readonly path: string }) => {
      await this.contact();
      assertUp();
      const body =
        path === '/version' ? { gitVersion: 'v1' } : { metadata: { uid: this.member.uid } };
      return { status: 200, body };
    };
    this.#recorded.push(cluster);
    this.onOpen(cluster);
    const client = Object.assign(cluster, { api: { request }, disconnect: async () => {} });
    return {
      cluster: client as unknown as KubeCluster,
      close: async () => this.#end(connection),
    };
  }

  #end(connection: Connection): void {
    connection.isOpen = false;
    connection.cluster.fault = () => new KubeError('connection-lost', 'Closed', { status: 0 });
    connection.cluster.leave();
    this.#connections.delete(connection);
  }
}
