import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AddCommand, ProgramContext } from '../program.ts';
import { addClusterFlags, runtimeNamespaceOption } from './cluster-flags.ts';
import type { ExplainFlags } from './explain.ts';
import type { FmtFlags } from './fmt.ts';
import type { FuzzFlags } from './fuzz.ts';
import type { HttpFlags } from './http.ts';
import type { ImportFlags } from './import.ts';
import type { InitFlags } from './init.ts';
import type { RenderFlags } from './render.ts';
import type { TestOptions } from './test.ts';

/** The commands for authors of definitions, by name. */
export const authoringCommands: Readonly<Record<string, AddCommand>> = {
  init: addInit,
  import: addImport,
  fmt: addFmt,
  render: addRender,
  explain: addExplain,
  test: addTest,
  http: addHttp,
  lsp: addLsp,
};

function addExplain(program: Command, { output, signal, exit }: ProgramContext): void {
  const command = program
    .command('explain')
    .description(
      'explain a definition (PATH...), the objects of a resource (PATH RESOURCE), a field of a kind (TYPE.FIELD), or what expressions can call (functions)',
    )
    .argument(
      '<what...>',
      'files or folders with definitions; a definition and a resource, which is a file or TYPE/NAME of a cluster; a type: "deployments.spec.replicas", "operatordefinition.spec"; or "functions"',
    )
    .addOption(
      new Option('-o, --output <format>', 'format; of a definition also a diagram')
        .choices(['text', 'json', 'mermaid', 'svg'])
        .default('text'),
    )
    .option('--recursive', 'of a type: name all fields below')
    .option(
      '--definitions <path>',
      'of a type: definitions with more kinds, can be repeated (default: the folder "operators")',
      (path: string, before: readonly string[] = []) => [...before, path],
    )
    .option('--with <file...>', 'of a resource in a file: objects that exist before')
    .option('--no-simulate', 'of a resource in a file: leave children unready')
    .addOption(runtimeNamespaceOption());
  addClusterFlags(command).action(async (words: readonly string[], flags: ExplainFlags) => {
    const { explain } = await import('./explain.ts');
    exit(await explain(words, { flags, output, signal }));
  });
}

function addHttp(program: Command, { output, exit }: ProgramContext): void {
  program
    .command('http')
    .description('print the requests that the HttpObjects of a file would send, without sending')
    .argument('<file>', 'file with objects of kind HttpObject; "-" for standard input')
    .option(
      '-f, --file <file...>',
      'more files, with the HttpEndpoints that the objects name (default: in the same file)',
    )
    .addOption(
      new Option('-o, --output <format>', 'format').choices(['text', 'json']).default('text'),
    )
    .action(async (file: string, flags: HttpFlags) => {
      const { http } = await import('./http.ts');
      exit(await http(file, flags, output));
    });
}

function addInit(program: Command, { output, exit }: ProgramContext): void {
  program
    .command('init')
    .description('write a definition that runs as it is, with a sample and a test')
    .argument('<name>', 'name of the definition: "web-app" for a kind WebApp')
    .argument('[dir]', 'folder for the files', 'operators')
    .option('--group <group>', 'API group of the kind', 'apps.example.com')
    .option(
      '--from <file...>',
      'convert these manifests, for example the output of "helm template"; "-" for standard input',
    )
    .option(
      '--parameter <mapping...>',
      'make a value of the manifests a field: "spec.replicas=Deployment/web:spec.replicas"',
    )
    .action(async (name: string, folder: string, flags: InitFlags) => {
      const { init } = await import('./init.ts');
      exit(await init(name, folder, flags, output));
    });
}

function addImport(program: Command, { output, exit }: ProgramContext): void {
  program
    .command('import')
    .description('convert definitions of kro, Crossplane and Metacontroller, with a report')
    .argument(
      '<file...>',
      'files or folders with them, and with their resources; "-" for standard input',
    )
    .option(
      '--output <path>',
      'a folder for definitions and samples, or a file for the definitions; default: standard output',
    )
    .option(
      '--sync-response <file...>',
      'recorded answers of the hooks of Metacontroller controllers; "-" for standard input',
    )
    .action(async (files: readonly string[], flags: ImportFlags) => {
      const { importDefinitions } = await import('./import.ts');
      exit(await importDefinitions(files, flags, output));
    });
}

function addFmt(program: Command, { output, exit }: ProgramContext): void {
  program
    .command('fmt')
    .description('put quotes around values with expressions that are no valid YAML without them')
    .argument('<path...>', 'files or folders; "-" prints standard input with its changes')
    .option('--check', 'change nothing; the exit code is 1 if a file would change')
    .action(async (paths: readonly string[], flags: FmtFlags) => {
      const { fmt } = await import('./fmt.ts');
      exit(await fmt(paths, flags, { output, write: (text) => process.stdout.write(text) }));
    });
}

function addRender(program: Command, { output, signal, exit }: ProgramContext): void {
  program
    .command('render')
    .description('print the objects that a definition creates for a resource')
    .argument('<definition>', 'file or folder with definitions')
    .argument('<resource>', 'file with the resource; "-" for standard input')
    .option('--with <file...>', 'files with objects that exist before')
    .option('--status', 'print the status of the resource, too')
    .option('--watch', 'render again when a file changes, until stopped')
    .option('--no-simulate', 'leave children unready: what reads them waits')
    .addOption(
      new Option('-o, --output <format>', 'format').choices(['yaml', 'json']).default('yaml'),
    )
    .action(async (definition: string, resource: string, flags: RenderFlags) => {
      const { render } = await import('./render.ts');
      exit(await render(definition, resource, flags, output, signal));
    });
}

/** Flags of `test` that measure coverage. */
const coverageFlags = ['coverage', 'coverageOutput', 'minCoverage'];

function addTest(program: Command, { output, signal, exit }: ProgramContext): void {
  program
    .command('test')
    .description('run tests of definitions, each on a simulated cluster of its own')
    .argument(
      '<path...>',
      'files or folders with documents of kind OperatorTest, or definitions with conversions',
    )
    .option('--filter <text>', 'run only tests whose name contains this')
    .option('--junit <file>', 'write the results as JUnit XML')
    .addOption(
      new Option(
        '--jobs <count>',
        'how many run at the same time (default: number of processors)',
      ).argParser(countOf),
    )
    .addOption(
      new Option(
        '--watch',
        'run tests again when their files, definitions or samples change, until stopped',
      ).conflicts(['junit', 'update', ...coverageFlags, 'fuzz']),
    )
    .addOption(
      new Option(
        '--kubeconfig <file>',
        'run tests on this cluster, each in a namespace of its own; steps that need the sandbox are skipped',
      ).conflicts(['jobs', 'watch', 'update', ...coverageFlags, 'fuzz']),
    )
    .addOption(
      new Option(
        '--context <name>',
        'context of the kubeconfig (default: its current one)',
      ).conflicts(['jobs', 'watch', 'update', ...coverageFlags, 'fuzz']),
    )
    .option(
      '--outside-files',
      'tests may name files outside of the current folder and of the folder above that of the test',
    )
    .option('--update', 'write found values into object and status expectations that fail')
    .addOption(
      new Option(
        '--coverage [format]',
        'report which expressions and branches of the definitions the tests reach',
      )
        .choices(['text', 'lcov', 'html'])
        .preset('text'),
    )
    .option(
      '--coverage-output <file>',
      'file for the coverage (default: text is printed, coverage.info, coverage.html)',
    )
    .addOption(
      new Option('--min-coverage <percent>', 'fail if less is covered').argParser(percentOf),
    )
    .addOption(
      new Option(
        '--fuzz <count>',
        'instead of tests, try this many random resources and edits of each definition in the files or folders',
      )
        .argParser(countOf)
        .conflicts(['junit', 'update', ...coverageFlags]),
    )
    .addOption(
      new Option(
        '--seed <number>',
        'of generated resources and of objects for conversions: the same seed gives the same (default: 1)',
      ).argParser(countOf),
    )
    .action(async (paths: readonly string[], options: TestOptions & Partial<FuzzFlags>) => {
      const { fuzz, ...testOptions } = options;
      if (fuzz !== undefined) {
        const { fuzzDefinitions } = await import('./fuzz.ts');
        exit(await fuzzDefinitions(paths, { seed: 1, ...testOptions, fuzz }, output, signal));
        return;
      }
      const { test } = await import('./test.ts');
      exit(await test(paths, testOptions, output, signal));
    });
}

function addLsp(program: Command, { output, signal, exit }: ProgramContext): void {
  program
    .command('lsp')
    .description('serve editors: a language server for definitions, on standard input and output')
    .option('--stdio', 'the only transport, for editors that name it')
    .action(async () => {
      const { lsp } = await import('./lsp.ts');
      exit(await lsp(output, signal));
    });
}

function percentOf(text: string): number {
  const percent = Number(text);
  if (text === '' || !(percent >= 0 && percent <= 100))
    throw new InvalidArgumentError('Expected a number from 0 to 100.');
  return percent;
}

function countOf(text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new InvalidArgumentError('Expected a whole number from 1 on.');
  return count;
}
