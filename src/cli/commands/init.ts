import { join } from 'node:path';
import { bundledSchemas } from '#compile';
import { type LocatedObject, printOrderedYaml } from '#definition';
import {
  type Conversion,
  clusterFor,
  convertManifests,
  missingStep,
  ownObjects,
  type Parameter,
  parseParameter,
  targetOf,
  valueAt,
} from '#import';
import { didYouMean } from '#util/did-you-mean.ts';
import { gvkOf } from '#util/gvk.ts';
import { isJsonObject, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { CliError, exitCode } from '../exit-code.ts';
import type { Output } from '../output.ts';
import { checkConversion } from './check-conversion.ts';
import { assertAbsent, writeNewFiles } from './new-files.ts';
import { readLocatedFiles } from './read-files.ts';
import {
  type StarterNames,
  starterDefinition,
  starterNames,
  starterSample,
  starterTest,
} from './starter.ts';

export interface InitFlags {
  readonly group: string;
  /** Files with manifests to convert. */
  readonly from?: readonly string[];
  /** Values of manifests that become fields: `spec.replicas=Deployment/web:spec.replicas`. */
  readonly parameter?: readonly string[];
}

/** What to do with the files. The commands have the same length. */
const nextSteps = [
  ['validate', 'checks it, with its sample and test'],
  ['test    ', 'runs its test'],
  ['dev     ', 'runs it in a simulated cluster, and reloads changes'],
  ['plan    ', 'prints what it would change in a cluster'],
] as const;

/** A DNS label that begins with a letter, as the kind is made of it. */
const validName = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const validGroup = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/;

/**
 * `homeostat init NAME [DIR]`: writes a definition that runs as it is, with a sample and a test; with `--from`, a definition that creates
 * the same objects as these manifests.
 * @returns the exit code: 1 when a converted definition has errors or does not render the manifests
 * @throws CliError for an invalid name or parameter, and when a file exists or cannot be written: then no file is written.
 */
export async function init(
  name: string,
  folder: string,
  flags: InitFlags,
  output: Output,
): Promise<number> {
  if (!validName.test(name))
    throw new CliError(`Expected a name of lowercase letters, digits and "-", found "${name}"`, {
      hint: hintForName(name),
    });
  if (!validGroup.test(flags.group))
    throw new CliError(`Expected an API group such as "apps.example.com", found "${flags.group}"`);
  if (flags.from === undefined && flags.parameter !== undefined)
    throw new CliError('"--parameter" needs "--from"');
  const names = starterNames(name, flags.group);
  const paths = {
    definition: join(folder, `${name}.yaml`),
    sample: join(folder, 'samples', `${name}.yaml`),
    test: join(folder, 'tests', `${name}.yaml`),
  };
  await assertAbsent(Object.values(paths));
  const given = flags.from === undefined ? undefined : await readLocatedFiles(flags.from, output);
  const conversion = given && convert(names, flags, given.objects);
  const texts = conversion ? convertedTexts(names, conversion) : starterTexts(names);
  const parts = ['definition', 'sample', 'test'] as const;
  await writeNewFiles(parts.map((part) => ({ file: paths[part], text: texts[part] })));
  for (const part of parts) output.print(`Created ${paths[part]}`);
  for (const line of secretWarnings(given?.objects ?? [])) output.error(line);
  const code = conversion
    ? await checkConversion({
        conversion,
        manifest: { file: paths.definition, text: texts.definition },
        located: given?.objects ?? [],
        output,
      })
    : exitCode.ok;
  output.print('');
  for (const [command, what] of nextSteps)
    output.print(`homeostat ${command} ${folder}   # ${what}`);
  return code;
}

/** `WebApp` and `web_app` are meant as `web-app`. */
function hintForName(name: string): string {
  const meant = name
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase();
  return validName.test(meant)
    ? `For a kind ${starterNames(meant, '').kind}: homeostat init ${meant}`
    : 'For a kind WebApp: homeostat init web-app';
}

interface Texts {
  readonly definition: string;
  readonly sample: string;
  readonly test: string;
}

function starterTexts(names: StarterNames): Texts {
  return {
    definition: starterDefinition(names),
    sample: starterSample(names),
    test: starterTest(names),
  };
}

function convertedTexts({ name, kind }: StarterNames, conversion: Conversion): Texts {
  const { definition, sample, objects, prerequisites } = conversion;
  const { given, unchecked, unserved } = clusterFor(objects, prerequisites, []);
  const isChecked = (object: KubeObject) => ![...unchecked, ...unserved].includes(object);
  const expected = objects
    .filter(isChecked)
    .map(({ apiVersion, kind: of, metadata: { name: own, namespace } }) => ({
      object: {
        apiVersion,
        kind: of,
        metadata: { name: own, ...(namespace !== undefined && { namespace }) },
      },
    }));
  const known = given.filter(
    (object) => object.kind === 'Namespace' || prerequisites.includes(object),
  );
  const target = `${kind}/${sample.metadata.name}`;
  const test = {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'OperatorTest',
    metadata: { name },
    spec: {
      definitions: [`../${name}.yaml`],
      ...(known.length > 0 && { given: known }),
      steps: [
        {
          name: `a new ${kind} has its objects`,
          apply: { file: `../samples/${name}.yaml` },
          expect: expected,
        },
        {
          name: `a deleted ${kind} leaves nothing`,
          delete: target,
          expect: [{ nothingLeft: true }],
        },
      ],
    },
  };
  return {
    definition: printOrderedYaml(definition),
    sample: printOrderedYaml(sample),
    test: printOrderedYaml(test),
  };
}

function convert(
  { name, kind, plural, group }: StarterNames,
  { parameter = [] }: InitFlags,
  located: readonly LocatedObject[],
): Conversion {
  const { objects, notes, prerequisites } = ownObjects(located.map(({ object }) => object));
  if (objects.length === 0) throw new CliError('There is no object that a definition can create');
  const schemas = bundledSchemas();
  const conversion = convertManifests({
    name,
    kind,
    plural,
    group,
    objects,
    isNamespaced: (object) =>
      !isClusterKind(object, prerequisites) &&
      schemas.isNamespaced(gvkOf(object.apiVersion, object.kind)) !== false,
    parameters: parameter.map((text) => parameterOf(text, objects)),
  });
  return {
    ...conversion,
    prerequisites: [...prerequisites, ...conversion.prerequisites],
    notes: [...notes, ...conversion.notes],
  };
}

/** Is it of a cluster-scoped kind of these CRDs? Any other unknown kind is taken for a namespaced one; most are. */
function isClusterKind({ apiVersion, kind }: KubeObject, crds: readonly KubeObject[]): boolean {
  return crds.some(({ spec }: KubeObject & { readonly spec?: unknown }) => {
    if (!isJsonObject(spec) || !isJsonObject(spec.names)) return false;
    const isKind = spec.names.kind === kind && spec.group === gvkOf(apiVersion, kind).group;
    return isKind && spec.scope === 'Cluster';
  });
}

/** The values of Secrets that the definition contains now. Without the lines themselves: a log must not have them. */
function secretWarnings(located: readonly LocatedObject[]): readonly string[] {
  const warnings = located
    .filter(({ object: { apiVersion, kind } }) => apiVersion === 'v1' && kind === 'Secret')
    .flatMap(({ object, pointer, source }) =>
      ['data', 'stringData'].flatMap((field) =>
        keysOf(object[field]).map((key) => {
          const { line, column } = source.keyAt(pointerTo(pointerTo(pointer, field), key));
          return `Warning: ${source.file}:${line}:${column}: The definition contains the value of "${key}" in Secret "${object.metadata.name}"`;
        }),
      ),
    );
  const hint =
    '  Do not commit it: read an existing Secret with "reads", or generate the value with "observed" and "$randomString"';
  return warnings.length === 0 ? [] : [...warnings, hint];
}

function keysOf(value: unknown): readonly string[] {
  return isJsonObject(value) ? Object.keys(value) : [];
}

function parameterOf(text: string, objects: readonly KubeObject[]): Parameter {
  const parameter = parseParameter(text);
  if (parameter === undefined)
    throw new CliError(
      `Expected a parameter such as "spec.replicas=Deployment/web:spec.replicas", found "${text}"`,
      {
        hint: 'The left side is the field of the new kind, the right side the place of the value: Kind/name:path, items as [0] or [name=web]',
      },
    );
  const object = targetOf(parameter, objects);
  if (object === undefined)
    throw new CliError(`There is no ${parameter.kind} "${parameter.name}" in the manifests`, {
      hint: `There are: ${objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`).join(', ')}`,
    });
  if (valueAt(object, parameter.path) === undefined)
    throw new CliError(
      `${parameter.kind} "${parameter.name}" has no field "${text.split(':').at(-1)}"`,
      hintForField(object, parameter),
    );
  return parameter;
}

function hintForField(object: KubeObject, { path }: Parameter): { readonly hint?: string } {
  const missing = missingStep(object, path);
  if (missing === undefined) return {};
  const { step, fields } = missing;
  return { hint: didYouMean(step, fields) ?? `There are: ${fields.join(', ')}` };
}
