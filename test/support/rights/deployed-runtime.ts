import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '#util/kube-object.ts';
import type { PlaneClient, SharedControlPlane } from '../control-plane/index.ts';
import { type FaultProxy, type matching, startFaultProxy } from '../fault-proxy/index.ts';
import { objectsOf } from '../helm/index.ts';
import { HomeostatProcess, runCli } from '../homeostat-process.ts';
import { isReady } from '../operator-suite.ts';
import { isAllowed, untilAllowed } from './access.ts';
import { type AuditedRequest, auditedRequests } from './audited-request.ts';
import { type GrantedRight, rightsOfRoles } from './granted-rule.ts';
import type { Rule } from './granted-user.ts';
import { tokenOf } from './service-account.ts';
import { plainManifests } from './stage.ts';

const system = 'homeostat-system';
const user = `system:serviceaccount:${system}:homeostat`;
const clusterRoles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

/** The ConfigMap with the shipped operators. */
export const examplesPath = `/api/v1/namespaces/${system}/configmaps/homeostat-examples`;

interface Role extends KubeObject {
  readonly rules: readonly Rule[];
}

interface Deployment extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}

/** The runtime as `deploy/manifests` installs it: with its ServiceAccount, roles and arguments, behind a proxy. */
export class DeployedRuntime {
  readonly #shared: SharedControlPlane;
  readonly #kubeconfig: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'homeostat-rights-'));
  readonly #running = new Set<HomeostatProcess>();
  /** Roles that `homeostat rights` has made: their paths. */
  readonly #ownRoles: string[] = [];
  readonly proxy: FaultProxy;

  private constructor(shared: SharedControlPlane, kubeconfig: string, proxy: FaultProxy) {
    this.#shared = shared;
    this.#kubeconfig = kubeconfig;
    this.proxy = proxy;
  }

  /** Installs it, and waits until its rights are in force. */
  static async install(shared: SharedControlPlane): Promise<DeployedRuntime> {
    const client = shared.client();
    // The runtime installs the kind of definitions itself where it is missing.
    for (const object of plainManifests())
      if (object.kind !== 'CustomResourceDefinition') await client.apply(object);
    // Here no controller puts them together: a role without rules may be bound by everybody.
    const rules = [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }];
    for (const name of ['admin', 'edit', 'view'])
      await client.patch(`${clusterRoles}/${name}`, { rules });
    const token = await tokenOf(client, { namespace: system, name: 'homeostat' });
    const { server, caCertificate, folder } = shared.plane;
    const proxied = await startFaultProxy({ server, caCertificate, folder, token: () => token });
    const runtime = new DeployedRuntime(shared, proxied.kubeconfig, proxied.proxy);
    await runtime.#untilInForce(await runtime.rights());
    return runtime;
  }

  /** A process with the arguments of the Deployment; the rest is what a Pod has. */
  start(): HomeostatProcess {
    const process = new HomeostatProcess({
      kubeconfig: this.#kubeconfig,
      flags: argumentsOfDeployment(),
      env: { HOSTNAME: 'tried' },
    });
    this.#running.add(process);
    return process;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((process) => process.stop('SIGKILL')));
    await this.proxy.reject();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** All that it may do, with what definitions were given besides. */
  async rights(): Promise<readonly GrantedRight[]> {
    const wanted = plainManifests().filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');
    const paths = await Promise.all(wanted.map((role) => this.#client.pathOf(role)));
    const found = await Promise.all(
      [...paths, ...this.#ownRoles].map((path) => this.#client.get(path)),
    );
    return rightsOfRoles(found.filter((role) => role !== undefined));
  }

  /** What it has asked for so far, as far as the log has it. */
  requests(): readonly AuditedRequest[] {
    const { auditFile } = this.#shared.plane;
    assert.ok(auditFile);
    return auditedRequests(auditFile, user);
  }

  /** Somebody is faster: the next such request is answered with a conflict. */
  rejectOnce(name: string, when: ReturnType<typeof matching>) {
    const action = { kind: 'answer', status: 409 } as const;
    return this.proxy.inject({ name, on: 'request', when, action, times: 1 });
  }

  /** Gives a definition the rights that are printed for it, and brings it as an object. */
  async bring(text: string): Promise<string> {
    const [definition] = objectsOf(text);
    assert.ok(definition);
    const { name } = definition.metadata;
    const file = join(this.#folder, `${name}.yaml`);
    writeFileSync(file, text);
    const { code, stdout } = await runCli('rights', file, '--name', name);
    assert.equal(code, 0);
    const objects = objectsOf(stdout);
    for (const object of objects) await this.#client.apply(object);
    const given = objects.filter(({ kind }) => kind.endsWith('Role'));
    for (const role of given) this.#ownRoles.push(await this.#client.pathOf(role));
    await this.#untilInForce(rightsOfRoles(given));
    const path = await this.#client.pathOf(definition);
    await this.#client.apply(definition);
    await this.#client.untilObject(path, isReady);
    return path;
  }

  /** Takes rights of the shipped operators away. */
  async take(isTaken: (rule: Rule) => boolean): Promise<void> {
    const path = `${clusterRoles}/homeostat-examples`;
    const role = (await this.#client.get(path)) as Role;
    const [taken] = role.rules.filter(isTaken);
    assert.ok(taken);
    await this.#client.patch(path, { rules: role.rules.filter((rule) => !isTaken(rule)) });
    const [right] = rightsOfRoles([{ ...role, rules: [taken] } as Role]);
    while (right !== undefined && (await isAllowed(this.#client, user, right)))
      await this.#client.sleep(50);
  }

  /** The server hears of roles and bindings a little later. */
  async #untilInForce(given: readonly GrantedRight[]): Promise<void> {
    for (const right of new Map(given.map((each) => [each.role, each])).values())
      await untilAllowed(this.#client, user, [right]);
  }

  get #client(): PlaneClient {
    return this.#shared.client();
  }
}

/** Without what the process gets from its test: where it listens, and where it may write. */
function argumentsOfDeployment(): readonly string[] {
  const deployment = plainManifests().find(({ kind }) => kind === 'Deployment') as Deployment;
  const [container] = deployment.spec.template.spec.containers;
  return (container?.args ?? [])
    .slice(1)
    .filter((argument) => !/^--http=/.test(argument))
    .map((argument) => argument.replace('$(POD_NAMESPACE)', system));
}
