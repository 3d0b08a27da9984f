import { Argument, type Command, Option } from 'commander';
import { logLevels } from '#telemetry';
import { CliCommand } from './cli-command.ts';
import { authoringCommands } from './commands/authoring.ts';
import { completionScript, type Shell, shells } from './commands/completion.ts';
import { devCommands } from './commands/index.ts';
import { addConversionFlags } from './conversion-flags.ts';
import {
  type ConvertOptions,
  defaultWebhookService,
  parseWebhookPort,
  parseWebhookUrl,
} from './convert-options.ts';
import { exitCode } from './exit-code.ts';
import type { Output } from './output.ts';
import type { RightsOptions } from './rights.ts';
import type { RunEnvironment } from './run-environment.ts';
import { addElectionFlags, parseList, type RunOptions } from './run-options.ts';
import { addSourceFlags, durationOption } from './source-flags.ts';
import type { ValidateFlags } from './validate.ts';
import { version, versionLines } from './version.ts';

export interface ProgramContext {
  readonly output: Output;
  /** Aborts on SIGTERM and SIGINT. */
  readonly signal: AbortSignal;
  /** Receives the exit code of the command. */
  readonly exit: (code: number) => void;
  /** For `run`. @default the real process */
  readonly environment?: RunEnvironment;
}

/** How an operator is made, below the list of all commands. */
const firstSteps = `
A first operator:
  homeostat init web-app                      writes operators/web-app.yaml, a sample and a test
  homeostat explain operatordefinition.spec   explains the fields of a definition
  homeostat explain functions                 prints what expressions \${ } can call
  homeostat validate operators                checks definitions, samples and tests
  homeostat test operators                    runs the tests
  homeostat dev operators                     runs it in a simulated cluster; then, in a second terminal:
  homeostat tree                              shows the resources with their objects
  homeostat plan operators                    prints what the files would change in a cluster`;

/** Adds a command with its flags. It imports its modules when it is called: `validate` must not load an HTTP client. */
export type AddCommand = (program: CliCommand, context: ProgramContext) => void;

const commands: ReadonlyMap<string, AddCommand> = new Map(
  Object.entries({
    run: addRun,
    validate: addValidate,
    rights: addRights,
    convert: addConvert,
    ...authoringCommands,
    ...devCommands,
    version: addVersion,
    completion: addCompletion,
  }),
);

/** @param name the only command that is called: others are left out, which takes less time. @default all commands */
export function createProgram(context: ProgramContext, name = ''): CliCommand {
  const { output } = context;
  const program = new CliCommand('homeostat')
    .description('Operators for Kubernetes without code')
    .version(version, '-v, --version')
    .option('--no-color', 'print without colors, as with the environment variable NO_COLOR')
    .showHelpAfterError(helpOf(''))
    .configureOutput({
      writeOut: (text) => output.print(text.trimEnd()),
      writeErr: (text) => output.error(text.trimEnd()),
    });
  // `completion` prints the flags of all commands.
  const only = name === 'completion' ? undefined : commands.get(name);
  for (const add of only === undefined ? commands.values() : [only]) add(program, context);
  for (const command of program.commands) command.showHelpAfterError(helpOf(` ${command.name()}`));
  program.addHelpText('after', firstSteps);
  return program;
}

function helpOf(command: string): string {
  return `(see homeostat${command} --help)`;
}

function addRun(program: Command, context: ProgramContext): void {
  const { output, signal, exit } = context;
  addConversionFlags(addElectionFlags(addSourceFlags(program.command('run'))))
    .description('serve operator definitions in a cluster until stopped')
    .option(
      '--kubeconfig <file>',
      'kubeconfig (default: KUBECONFIG, ~/.kube/config, or the service account of the pod)',
    )
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option(
      '--namespace <name>',
      'namespace of the runtime\'s own objects (default: the namespace of the pod, else "homeostat-system")',
    )
    .option(
      '--runtime <name>',
      'name of this runtime; it serves only definitions with this name (default: namespace and Lease, or host and directories)',
    )
    .option(
      '--take-over <name>',
      'also serve the definitions of this runtime, which no longer exists (default: none)',
    )
    .option(
      '--cluster-secrets <namespaces>',
      'namespaces, as globs, whose Secrets may contain kubeconfigs of member clusters (default: --namespace)',
      (text: string) => parseList(text),
    )
    .option(
      '--cluster-servers <list>',
      'servers that kubeconfigs of member clusters may name: globs of hosts, addresses, CIDRs; repeatable (default: all but link-local addresses and metadata services)',
      parseList,
    )
    .option(
      '--http <address>',
      'host:port for /healthz, /readyz and /metrics, or "off"',
      '127.0.0.1:8080',
    )
    .option(
      '--http-objects',
      'serve the kinds HttpEndpoint and HttpObject (default: when a definition uses them, or they are installed)',
    )
    .option(
      '--http-allow <list>',
      'where HttpEndpoints may lead besides Services of their namespace: globs of hosts, addresses, CIDRs, each with an optional port; repeatable',
      parseList,
    )
    .option(
      '--console-records <file>',
      'record reconciles in memory, and serve them at --http to "homeostat console" with the token in this file (default: off)',
    )
    .addOption(logLevelOption())
    .action(async (options: RunOptions) => {
      const { run } = await import('./run.ts');
      const { processEnvironment } = await import('./run-environment.ts');
      const { environment = processEnvironment() } = context;
      exit(await run(options, { output, environment }, signal));
    });
}

function logLevelOption(): Option {
  return new Option('--log-level <level>', 'minimum level of log lines')
    .choices(logLevels)
    .default('info');
}

function addValidate(program: Command, { output, signal, exit }: ProgramContext): void {
  program
    .command('validate')
    .description('check definitions without a cluster and print all errors')
    .argument('<path...>', 'files or directories; "-" for standard input')
    .addOption(
      new Option('-o, --output <format>', 'format: "github" annotates pull requests')
        .choices(['text', 'json', 'sarif', 'github'])
        .default('text'),
    )
    .addOption(
      new Option('--watch', 'check again when a file changes, until stopped').conflicts('output'),
    )
    .action(async (paths: readonly string[], flags: ValidateFlags) => {
      const { validate } = await import('./validate.ts');
      exit(await validate(paths, flags, output, signal));
    });
}

function addRights(program: Command, { output, exit }: ProgramContext): void {
  program
    .command('rights')
    .description('print the roles that definitions need, as YAML')
    .argument('<path...>', 'files or directories; "-" for standard input')
    .option('--name <name>', 'name of the roles and bindings', 'homeostat-definitions')
    .option(
      '--service-account <namespace/name>',
      'service account of the runtime',
      'homeostat-system/homeostat',
    )
    .option(
      '--members',
      'print the rights in a member cluster, for definitions with "controller.clusters" (default: those in the cluster of the runtime)',
    )
    .option('--out <file>', 'file to write (default: standard output)')
    .action(async (paths: readonly string[], options: RightsOptions) => {
      const { rights } = await import('./rights.ts');
      exit(await rights(paths, options, output));
    });
}

function addConvert(program: Command, context: ProgramContext): void {
  const { signal, exit } = context;
  program
    .command('convert')
    .description('serve the conversion webhook of kinds whose versions differ, until stopped')
    .option(
      '--kubeconfig <file>',
      'kubeconfig (default: KUBECONFIG, ~/.kube/config, or the service account of the pod)',
    )
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option(
      '--namespace <name>',
      'namespace of the Service and of the Secret with the certificates (default: the namespace of the pod, else "homeostat-system")',
    )
    .option(
      '--webhook-service <name>',
      'Service by which the API server reaches this process',
      defaultWebhookService,
    )
    .addOption(
      new Option(
        '--webhook-url <url>',
        'outside of a cluster: https://HOST:PORT by which the API server reaches this process',
      ).argParser(parseWebhookUrl),
    )
    .option('--webhook-host <address>', 'address to listen on (default: all)')
    .addOption(
      new Option('--webhook-port <number>', 'port to listen on; 0: any free one')
        .argParser(parseWebhookPort)
        .default(9443),
    )
    .option(
      '--webhook-cert-dir <directory>',
      'directory with tls.crt and tls.key of another program, reloaded when they change (default: certificates are issued and kept in a Secret)',
    )
    .addOption(
      durationOption(
        '--shutdown-delay <time>',
        'how long connections are accepted after SIGTERM, until no client is sent to this process (default: 15s in a pod, else 0s)',
      ),
    )
    .option(
      '--http <address>',
      'host:port for /healthz, /readyz and /metrics, or "off"',
      '127.0.0.1:8080',
    )
    .addOption(logLevelOption())
    .action(async (options: ConvertOptions) => {
      const { convert } = await import('./convert.ts');
      const { processEnvironment } = await import('./run-environment.ts');
      exit(await convert(options, context.environment ?? processEnvironment(), signal));
    });
}

function addVersion(program: Command, { output, exit }: ProgramContext): void {
  program
    .command('version')
    .description('print the versions of Homeostat, its simulated API and Node')
    .addOption(
      new Option('-o, --output <format>', 'format').choices(['text', 'json']).default('text'),
    )
    .action(async ({ output: format }: { readonly output: 'text' | 'json' }) => {
      const { builtinDocuments } = await import('#compile');
      const { kubernetesVersion } = builtinDocuments();
      const versions = { homeostat: version, kubernetes: kubernetesVersion, node: process.version };
      if (format === 'json') output.print(JSON.stringify(versions, undefined, 2));
      else for (const line of versionLines(versions)) output.print(line);
      exit(exitCode.ok);
    });
}

function addCompletion(program: Command, { output, exit }: ProgramContext): void {
  program
    .command('completion')
    .description('print a script that completes commands and flags in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: Shell) => {
      output.print(completionScript(program, shell));
      exit(exitCode.ok);
    });
}
