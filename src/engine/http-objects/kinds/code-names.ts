/** What code fields can read, with what it is. Values of Secrets are in none of them. */
export const codeNames = {
  id: 'The id of the object, when it is known.',
  params: 'The parameters of the paths.',
  desired: 'The desired content, without values of Secrets.',
  code: 'The HTTP status of the answer.',
  headers: 'The headers of the answer, with names in lower case.',
  body: 'The whole answer.',
  result: 'The object: what `observe.result` returns, or one of `find.results`.',
  metadata: 'Name, namespace, uid, labels and annotations of the HttpObject.',
} as const;

export type CodeName = keyof typeof codeNames;
