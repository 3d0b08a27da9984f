export { type HandlerContext, handleRequest, maxBodyLength, tooLargeAnswer } from './handler.ts';
