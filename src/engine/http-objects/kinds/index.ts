/** The kinds without their controller: to install them, or to decide whether it is needed, loads no other code of the room. */

export { httpLabel } from '../names.ts';
export { type CodeName, codeNames } from './code-names.ts';
export { httpEndpointGvk, httpEndpointSchema } from './http-endpoint.ts';
export { type HttpKind, httpKinds } from './http-kinds.ts';
export { httpObjectGvk, httpObjectSchema } from './http-object.ts';
export { isCodeField } from './literal-fields.ts';
