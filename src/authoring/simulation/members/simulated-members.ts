import {
  type ApiRequest,
  createClusterOn,
  type KubeCluster,
  type KubeClusterOptions,
  KubeError,
} from '#kube';
import type { ConnectMember } from '#runtime';
import type { ApiAnswer, Sandbox } from '#sandbox';
import { SandboxClient } from '../sandbox-client.ts';
import { createTestApi, type TestApi } from '../test-api.ts';

export interface SimulatedMembersOptions {
  /** Creates the API server of a member. `index`: from 0, in the order of creation. */
  readonly createSandbox: (index: number) => Sandbox;
  readonly shared: Pick<
    KubeClusterOptions,
    'clock' | 'random' | 'logger' | 'metrics' | 'knownSchema' | 'shouldSendEvents'
  >;
  /** Called before each request of the operators to a member. An answer that it returns takes the place of the server's. */
  readonly onRequest: (request: ApiRequest, member: string) => ApiAnswer | undefined;
  /** Called with the HTTP status of each answer of a member to them. */
  readonly onAnswer: (request: ApiRequest, status: number, member: string) => void;
  /** Something happens in a member. */
  readonly onActivity: () => void;
}

/** A member cluster of a simulation, whatever address its kubeconfig has. */
export interface SimulatedMember {
  readonly sandbox: Sandbox;
  /** The client of the simulation's user, whom an outage does not concern. */
  readonly client: SandboxClient;
  readonly api: TestApi;
}

interface Connection {
  /** Ends it as an outage does. */
  lose(): void;
}

interface State extends SimulatedMember {
  isReachable: boolean;
  readonly connections: Set<Connection>;
}

/** The member clusters of a simulation, by the names of their `Cluster` objects: a sandbox each, on the clock of the hub. */
export class SimulatedMembers {
  readonly #options: SimulatedMembersOptions;
  readonly #states = new Map<string, State>();

  constructor(options: SimulatedMembersOptions) {
    this.#options = options;
  }

  get names(): readonly string[] {
    return [...this.#states.keys()];
  }

  /** The member of a name; it is created when it is first asked for, or connected to. */
  get(name: string): SimulatedMember {
    return this.#stateOf(name);
  }

  /** A cluster of the simulation's user. The caller closes it. */
  connect(name: string, labels: Readonly<Record<string, string>>): KubeCluster {
    const { sandbox } = this.#stateOf(name);
    const client = new SandboxClient({ sandbox, userAgent: 'kubectl' });
    return createClusterOn(client, { ...this.#options.shared, name, labels: () => labels });
  }

  /** Lets the API server of a member stop responding to the operators, or respond again. */
  setReachable(name: string, isReachable: boolean): void {
    const state = this.#stateOf(name);
    state.isReachable = isReachable;
    this.#options.onActivity();
    if (!isReachable) for (const connection of [...state.connections]) connection.lose();
  }

  /** Connects the operators. The kubeconfig decides nothing but whether it is valid: the name of the `Cluster` leads to the member. */
  readonly connectOperators: ConnectMember = (_config, { name = '', ...options }) => {
    const { shared, onRequest, onAnswer, onActivity } = this.#options;
    const { labels, onLost, beforeWrite } = options;
    const state = this.#stateOf(name);
    const client = new SandboxClient({
      sandbox: state.sandbox,
      userAgent: 'homeostat',
      onRequest: (request) => {
        onActivity();
        if (!state.isReachable) throw unreachable();
        if (request.method !== 'GET') beforeWrite?.(request);
        return onRequest(request, name);
      },
      onAnswer: (request, status) => onAnswer(request, status, name),
    });
    const cluster = createClusterOn(client, {
      ...shared,
      name,
      instance: 'homeostat',
      ...(labels && { labels }),
      ...(onLost && { onLost }),
    });
    const connection: Connection = { lose: () => onLost?.('outage') };
    state.connections.add(connection);
    const close = async () => {
      state.connections.delete(connection);
      await cluster.close();
    };
    return { cluster, close };
  };

  stop(): void {
    for (const { sandbox } of this.#states.values()) sandbox.stop();
  }

  #stateOf(name: string): State {
    const known = this.#states.get(name);
    if (known !== undefined) return known;
    const { createSandbox, onActivity } = this.#options;
    const sandbox = createSandbox(this.#states.size);
    sandbox.onChange(onActivity);
    const client = new SandboxClient({ sandbox, userAgent: 'kubectl' });
    const api = createTestApi(client);
    const state = { sandbox, client, api, isReachable: true, connections: new Set<Connection>() };
    this.#states.set(name, state);
    return state;
  }
}

function unreachable(): KubeError {
  return new KubeError('unavailable', 'The simulated API server does not respond', { status: 0 });
}
