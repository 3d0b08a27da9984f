import { type Command, InvalidArgumentError, Option } from 'commander';
import { logLevels } from '#telemetry';
import type { CliCommand } from '../cli-command.ts';
import { addConversionFlags } from '../conversion-flags.ts';
import { exitCode } from '../exit-code.ts';
import type { AddCommand, ProgramContext } from '../program.ts';
import { parseList } from '../run-options.ts';
import type { ApplyOptions } from './apply.ts';
import { addClusterFlags, runtimeNamespaceOption } from './cluster-flags.ts';
import type { ClusterFlags } from './cluster-session.ts';
import type { ConsoleFlags, ObjectName } from './console.ts';
import { defaultKubeconfig } from './default-kubeconfig.ts';
import type { DeleteOptions } from './delete.ts';
import type { DevOptions } from './dev.ts';
import type { EventsOptions } from './events.ts';
import type { GetOptions } from './get.ts';
import type { HistoryFlags } from './history.ts';
import type { PlanFlags } from './plan.ts';
import type { SandboxOptions } from './sandbox.ts';

/** Flags of `dev` that apply only to the sandbox, not to a given cluster. */
const sandboxFlags = ['persist', 'port', 'writeKubeconfig'];

function portOption(): Option {
  return new Option('--port <number>', 'port of the API')
    .argParser(parsePort)
    .default(0, 'any free one');
}

/** `dev` and the commands that show and change objects, by name. */
export const devCommands: Readonly<Record<string, AddCommand>> = {
  dev: addDev,
  console: addConsole,
  sandbox: addSandbox,
  get: addGet,
  apply: addApply,
  delete: addDelete,
  describe: addDescribe,
  tree: addTree,
  events: addEvents,
  history: addHistory,
  plan: addPlan,
};

function addDev(program: Command, { output, signal, exit }: ProgramContext): void {
  const command = program
    .command('dev')
    .description('run definitions in a simulated cluster, and reload changed files')
    .argument('[dir]', 'directory with definitions; samples in its folder "samples"', 'operators')
    .addOption(
      new Option('--kubeconfig <file>', 'run them in this cluster instead').conflicts(sandboxFlags),
    )
    .addOption(
      new Option(
        '--context <name>',
        'context of the kubeconfig (default: its current one)',
      ).conflicts(sandboxFlags),
    )
    .option(
      '--write-kubeconfig <file>',
      'where to write the kubeconfig of the API',
      defaultKubeconfig,
    )
    .option('--persist <file>', 'keep the cluster in this file (default: it ends with the command)')
    .addOption(portOption())
    .addOption(
      new Option('--clusters <number>', 'also simulate member clusters dev-1, dev-2, ...')
        .argParser(parseCount)
        .default(0, 'none')
        .conflicts(['kubeconfig', 'context']),
    )
    .option('--samples', 'apply the samples (default: only in a new cluster)')
    .option('--no-samples', 'do not apply the samples')
    .option('--no-console', 'do not serve the console, the web application')
    .option(
      '--http-objects',
      'serve the kinds HttpEndpoint and HttpObject (default: when a definition or a sample uses them)',
    )
    .option(
      '--http-allow <list>',
      'where HttpEndpoints may lead besides this machine: globs of hosts, addresses, CIDRs, each with an optional port; repeatable',
      parseList,
    )
    .addOption(
      new Option('--log-level <level>', 'minimum level of log lines')
        .choices(logLevels)
        .default('warn'),
    );
  addConversionFlags(command).action(async (folder: string, options: DevOptions) => {
    const { dev } = await import('./dev.ts');
    exit(await dev(folder, options, output, signal));
  });
  const cluster = command
    .command('cluster')
    .description('stop or start a member cluster of a running "homeostat dev --clusters"');
  for (const action of ['stop', 'start'] as const) {
    const text = action === 'stop' ? 'make a member unreachable' : 'make a member reachable again';
    cluster
      .command(action)
      .description(text)
      .argument('<name>', 'name of the member: dev-1, dev-2, ...')
      .option('--kubeconfig <file>', 'kubeconfig (default: of a running "homeostat dev")')
      .action(async (name: string, flags: ClusterFlags) => {
        const { switchDevMember } = await import('./dev-members.ts');
        await switchDevMember(name, action, { flags, output, signal });
        exit(exitCode.ok);
      });
  }
}

const maxMembers = 20;

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 0 && count <= maxMembers) return count;
  throw new InvalidArgumentError(`Expected a number from 0 to ${maxMembers}.`);
}

function addConsole(program: Command, { output, signal, exit }: ProgramContext): void {
  program
    .command('console')
    .description('serve a web application that shows the definitions and resources of a cluster')
    .option(
      '--kubeconfig <file>',
      'kubeconfig (default: KUBECONFIG, ~/.kube/config, or the service account of the pod)',
    )
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--port <number>', 'port of the console (default: any free one)', parsePort, 0)
    .option('--allow-edits', 'permit changes of the cluster (default: read-only)')
    .addOption(
      new Option(
        '--records-secret <namespace/name>',
        'Secret of the runtime with the token for its records of reconciles',
      )
        .argParser(parseObjectName)
        .default(
          { namespace: 'homeostat-system', name: 'homeostat-records' },
          'homeostat-system/homeostat-records',
        ),
    )
    .option(
      '--records-url <url>',
      'address of the runtime, for its records (default: its Pods, through the API server)',
    )
    .option('--records-token <file>', 'file with the token, for --records-url')
    .addOption(runtimeNamespaceOption())
    .option(
      '--records-cluster <name>',
      'the member cluster that the kubeconfig names, for its records (default: the cluster of the runtime)',
    )
    .action(async (flags: ConsoleFlags) => {
      const { serveConsole } = await import('./console.ts');
      exit(await serveConsole(flags, output, signal));
    });
}

function parseObjectName(text: string): ObjectName {
  const [namespace, name, ...rest] = text.split('/');
  if (namespace && name && rest.length === 0) return { namespace, name };
  throw new InvalidArgumentError('Expected "namespace/name".');
}

function addSandbox(program: Command, { signal, exit, output }: ProgramContext): void {
  program
    .command('sandbox')
    .description('serve a simulated Kubernetes API for tests, without definitions')
    .option(
      '--write-kubeconfig <file>',
      'where to write the kubeconfig of the API',
      defaultKubeconfig,
    )
    .option('--persist <file>', 'keep the cluster in this file (default: it ends with the command)')
    .addOption(portOption())
    .option('--no-controllers', 'do not simulate controllers and Pods: only the API server')
    .action(async (options: SandboxOptions) => {
      const { sandbox } = await import('./sandbox.ts');
      exit(await sandbox(options, output, signal));
    });
}

function addGet(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('get')
    .description('list or show objects')
    .argument('<types>', 'kinds: "pods", "po,svc", "all"; or "podset/example"')
    .argument('[names...]', 'only these (default: all)')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('-l, --selector <selector>', 'label selector: "app=web,tier!=db"')
    .option('-w, --watch', 'print a row for each change until stopped; for tables of one kind')
    .addOption(
      new Option('-o, --output <format>', 'output format (default: a table)').choices([
        'wide',
        'yaml',
        'json',
        'name',
      ]),
    );
  addClusterFlags(command).action(
    async (types: string, names: readonly string[], options: GetOptions & ClusterFlags) => {
      const { get } = await import('./get.ts');
      exit(await get({ ...context, flags: options }, { types, names, options }));
    },
  );
}

function addApply(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('apply')
    .description('create or change objects by server-side apply')
    .requiredOption('-f, --filename <path...>', 'files or directories; "-" for standard input')
    .option('--force-conflicts', 'take over fields that other managers own');
  addClusterFlags(command).action(async (options: ApplyOptions & ClusterFlags) => {
    const { apply } = await import('./apply.ts');
    exit(await apply({ ...context, flags: options }, options));
  });
}

function addDelete(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('delete')
    .description('delete objects by kind and name, or those in files')
    .argument('[types]', 'kinds: "pods", "podset"; or "podset/example"')
    .argument('[names...]', 'names of the objects')
    .option('-f, --filename <path...>', 'files or directories; "-" for standard input')
    .option('--ignore-not-found', 'do not fail if an object does not exist')
    .addOption(
      new Option('--cascade <how>', 'how dependents are deleted')
        .choices(['background', 'foreground', 'orphan'])
        .default('background'),
    );
  addClusterFlags(command).action(
    async (
      types: string | undefined,
      names: readonly string[],
      options: DeleteOptions & ClusterFlags,
    ) => {
      const { deleteObjects } = await import('./delete.ts');
      exit(await deleteObjects({ ...context, flags: options }, { types, names, options }));
    },
  );
}

function addDescribe(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('describe')
    .description('show an object with its children and Events')
    .argument('<types>', 'kinds: "podset"; or "podset/example"')
    .argument('[names...]', 'only these (default: all)');
  addClusterFlags(command).action(
    async (types: string, names: readonly string[], flags: ClusterFlags) => {
      const { describe } = await import('./describe.ts');
      exit(await describe({ ...context, flags }, { types, names }));
    },
  );
}

function addTree(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('tree')
    .description('show resources with their children as a tree')
    .argument('[types]', 'kinds: "podsets" (default: all custom ones); or "podset/example"')
    .argument('[names...]', 'only these (default: all)')
    .option('-A, --all-namespaces', 'in all namespaces');
  addClusterFlags(command).action(
    async (
      types: string | undefined,
      names: readonly string[],
      options: { readonly allNamespaces?: boolean } & ClusterFlags,
    ) => {
      const { tree } = await import('./tree.ts');
      exit(await tree({ ...context, flags: options }, { types, names, options }));
    },
  );
}

function addEvents(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('events')
    .description('list Events, oldest first')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('--for <object>', 'only Events of this object: "podset/example"')
    .option('--children', 'with --for: also Events of the objects below it');
  addClusterFlags(command).action(async (options: EventsOptions & ClusterFlags) => {
    const { events } = await import('./events.ts');
    exit(await events({ ...context, flags: options }, options));
  });
}

function addHistory(program: Command, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('history')
    .description('list the stored versions of what resources read, and whether they are authentic')
    .argument('[name...]', 'names of stored versions (default: all)')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('--definition <name>', 'only those of this definition')
    .option('--sign', 'sign the named versions, so that they count')
    .addOption(runtimeNamespaceOption());
  addClusterFlags(command).action(
    async (names: readonly string[], options: HistoryFlags & ClusterFlags) => {
      const { history } = await import('./history.ts');
      exit(await history({ ...context, flags: options }, names, options));
    },
  );
}

function addPlan(program: CliCommand, { exit, ...context }: ProgramContext): void {
  const command = program
    .command('plan')
    .alias('diff')
    .description('print what definitions would change in a cluster, without a change of it')
    .addHelpText(
      'after',
      '\nExit codes: 0 no changes, 2 changes, 1 every error: also a child that the API server rejects.',
    )
    .argument('<path...>', 'files or directories with definitions; "-" for standard input')
    .option(
      '-f, --filename <path...>',
      'plan only the resources in these files, as if they were applied (default: all resources)',
    )
    .addOption(
      new Option(
        '--against <file>',
        'use a cluster that "dev --persist" or "sandbox --persist" has saved',
      ).conflicts(['kubeconfig', 'context', 'cluster']),
    )
    .addOption(
      new Option('-o, --output <format>', 'format')
        .choices(['text', 'json', 'markdown'])
        .default('text'),
    )
    .addOption(runtimeNamespaceOption());
  // 2 means changes.
  command.errorCode = exitCode.failure;
  addClusterFlags(command).action(
    async (paths: readonly string[], options: PlanFlags & ClusterFlags) => {
      const { plan } = await import('./plan.ts');
      exit(await plan({ ...context, flags: options }, paths, options));
    },
  );
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Expected a port number.');
}
