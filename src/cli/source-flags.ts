import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDurationMs } from '#util/duration.ts';
import { CliError } from './exit-code.ts';

/** Where definitions may come from. */
const sourceKinds = ['configmaps', 'directories', 'objects'] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** Flags that say where definitions come from. */
export interface SourceFlags {
  /** Directories or files with definitions; `-` is standard input. @default none */
  readonly definitions?: readonly string[];
  /** Namespace of the ConfigMaps with definitions. @default the namespace of the runtime */
  readonly definitionsNamespace?: string;
  /** @default see {@link chooseSources} */
  readonly sources?: readonly SourceKind[];
  /** Time for which a definition continues to run after its text has disappeared, in ms. */
  readonly withdrawAfter: number;
}

export function addSourceFlags(command: Command): Command {
  return command
    .option('--definitions <path...>', 'directories or files with definitions')
    .option(
      '--definitions-namespace <name>',
      'namespace of the ConfigMaps with definitions (default: --namespace)',
    )
    .addOption(
      new Option(
        '--sources <list>',
        'what definitions are read from: configmaps, directories, objects (default: directories with --definitions, else configmaps,objects)',
      ).argParser(parseSources),
    )
    .addOption(
      durationOption(
        '--withdraw-after <time>',
        'how long a definition runs after its manifest is removed; its object stays twenty times as long',
        30_000,
      ),
    );
}

/**
 * The sources to read. Directories alone exclude the others: a process on a laptop must not serve definitions of the cluster.
 * @throws CliError where the flags contradict each other.
 */
export function chooseSources(flags: SourceFlags): readonly SourceKind[] {
  const { definitions, definitionsNamespace, sources = defaultSources(flags) } = flags;
  const hasPaths = definitions !== undefined && definitions.length > 0;
  if (sources.includes('directories') !== hasPaths)
    throw new CliError(
      hasPaths
        ? 'With --definitions the sources must hold "directories"'
        : 'The source "directories" needs --definitions',
      { hint: 'As in --definitions my-operators/ --sources directories,configmaps' },
    );
  if (definitionsNamespace !== undefined && !sources.includes('configmaps'))
    throw new CliError('With --definitions-namespace the sources must hold "configmaps"');
  return sources;
}

function defaultSources({ definitions, definitionsNamespace }: SourceFlags): readonly SourceKind[] {
  if (definitions === undefined) return ['configmaps', 'objects'];
  return definitionsNamespace === undefined ? ['directories'] : ['directories', 'configmaps'];
}

function parseSources(text: string): readonly SourceKind[] {
  const words = text.split(',').map((word) => word.trim());
  const found = sourceKinds.filter((kind) => words.includes(kind));
  const unknown = words.filter((word) => !found.some((kind) => kind === word));
  if (unknown.length > 0 || found.length === 0)
    throw new InvalidArgumentError(`Expected some of ${sourceKinds.join(', ')}.`);
  return found;
}

/** A flag whose value is a time such as `15s`, in ms. */
export function durationOption(flags: string, description: string, defaultMs?: number): Option {
  const option = new Option(flags, description).argParser(parseTime);
  return defaultMs === undefined ? option : option.default(defaultMs, `${defaultMs / 1_000}s`);
}

function parseTime(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined) throw new InvalidArgumentError('Expected a time such as "15s" or "1m30s".');
  return ms;
}
