import type { DefinitionManifest } from '#check';
import { type Diagnostic, definitionKind, type LocatedObject, readObjects } from '#definition';
import { httpKindCheckOf } from '#http-objects/spec/index.ts';
import { checkObjects, ObjectCheck } from '#testing';
import { namesHttpKind } from '../http-files.ts';

/** Files with objects behind HTTP that were checked. */
export interface CheckedHttpFiles {
  /** The files. Others have definitions. */
  readonly files: ReadonlySet<string>;
  /** Titles of the valid objects behind HTTP, by file. */
  readonly valid: readonly { readonly file: string; readonly title: string }[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks the files that have an `HttpObject` or `HttpEndpoint`, and no definition, with all of their objects. */
export function checkHttpFiles(manifests: readonly DefinitionManifest[]): CheckedHttpFiles {
  const found = manifests.filter(namesHttpKind).flatMap(({ file, text }) => {
    const { objects, diagnostics } = readObjects(text, file);
    return objects.some(isHttp) && !objects.some(isDefinition)
      ? [{ file, objects, diagnostics }]
      : [];
  });
  const objects = found.flatMap((each) => each.objects);
  const results = checkEach(objects);
  return {
    files: new Set(found.map(({ file }) => file)),
    valid: results.flatMap(({ object: { object, source }, diagnostics }) =>
      httpKindCheckOf(object) === undefined || diagnostics.some(isError)
        ? []
        : [{ file: source.file, title: `${object.kind} "${object.metadata.name}"` }],
    ),
    diagnostics: [...found, ...results].flatMap(({ diagnostics }) => diagnostics),
  };
}

interface CheckedObject {
  readonly object: LocatedObject;
  readonly diagnostics: readonly Diagnostic[];
}

function checkEach(objects: readonly LocatedObject[]): readonly CheckedObject[] {
  const check = new ObjectCheck([]);
  try {
    for (const { object } of objects) check.serve(object);
    return objects.map((object) => ({ object, diagnostics: checkObjects([object], check) }));
  } finally {
    check.close();
  }
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

function isHttp({ object }: LocatedObject): boolean {
  return httpKindCheckOf(object) !== undefined;
}

function isDefinition({ object: { kind } }: LocatedObject): boolean {
  return kind === definitionKind;
}
