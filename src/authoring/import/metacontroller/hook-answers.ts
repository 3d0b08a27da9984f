import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { cleanObject } from '../convert/clean-object.ts';
import type { SourceDocument } from '../importer.ts';

/** What a hook has answered for one parent. */
export interface HookAnswer {
  readonly document: SourceDocument;
  /** With that of the request. */
  readonly documents: readonly SourceDocument[];
  readonly parent: KubeObject;
  /** Objects that it wants, as a user would write them. */
  readonly children: readonly { readonly object: KubeObject; readonly pointer: string }[];
  /** Objects that existed when it was asked. */
  readonly observed: readonly KubeObject[];
  readonly response: JsonObject;
  /** Pointer of the response in its document. */
  readonly pointer: string;
}

/** A response without its request is that for the only parent. */
interface RawAnswer {
  readonly document: SourceDocument;
  /** The document of the request, if it is another one. */
  readonly asked?: SourceDocument;
  readonly request: JsonObject;
  readonly response: JsonObject;
  readonly pointer: string;
}

/** Reads recorded answers: `{ request, response }`, a request followed by its response, or a response alone. */
export function readAnswers(documents: readonly SourceDocument[]): readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  let asked: SourceDocument | undefined;
  for (const document of documents) {
    const { value } = document;
    if (isJsonObject(value.response)) {
      const own = isJsonObject(value.request) ? value.request : {};
      answers.push({ document, request: own, response: value.response, pointer: '/response' });
    } else if (value.parent !== undefined || value.object !== undefined) asked = document;
    else {
      const request = asked?.value ?? {};
      answers.push({ document, ...(asked && { asked }), request, response: value, pointer: '' });
      asked = undefined;
    }
  }
  return answers;
}

/** The answers about parents of one kind. `only` is the parent of a response without its request. */
export function answersFor(
  answers: readonly RawAnswer[],
  isParent: (object: JsonObject) => boolean,
  only: JsonObject | undefined,
): readonly HookAnswer[] {
  return answers.flatMap(({ document, asked, request, response, pointer }) => {
    const parent = request.parent ?? request.object ?? only;
    if (!isJsonObject(parent) || !isParent(parent)) return [];
    const field = response.attachments === undefined ? 'children' : 'attachments';
    const wanted = response[field];
    const children = (Array.isArray(wanted) ? wanted : []).flatMap((each: Json, index) =>
      isJsonObject(each)
        ? [
            {
              object: cleanObject(each as unknown as KubeObject),
              pointer: pointerTo(`${pointer}/${field}`, index),
            },
          ]
        : [],
    );
    const observed = Object.values(objectOf(request[field])).flatMap((kind) =>
      Object.values(objectOf(kind)).filter(isJsonObject),
    );
    return [
      {
        document,
        children,
        response,
        pointer,
        documents: asked === undefined ? [document] : [asked, document],
        parent: parent as unknown as KubeObject,
        observed: observed as unknown as readonly KubeObject[],
      },
    ];
  });
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
