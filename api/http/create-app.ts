import express, { type ErrorRequestHandler, type Express } from 'express';
import type { Logger } from '../../lib/log/logger.js';
import { ApiError } from './api-error.js';
import { requestPipeline, type RequestPipelineParts } from './pipeline.js';
import { ProblemError } from './problem-error.js';
import { RequestAbortedError } from './request-body.js';
import { RequestContext } from './request-context.js';
import { sendProblem } from './send-result.js';

/** Body of a failure in front of the handlers (rest-api.md 3.4). */
const UNCAUGHT = {
  type: 'about:blank',
  title: 'Internal Server Error',
  detail:
    'The server encountered an internal error and was unable to complete your request. Either the server is overloaded or there is an error in the application.',
  status: 500,
};

/** Puts the pipeline into an express application. */
export function createApp(parts: RequestPipelineParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // Queries are read by the contract's rules, not by the framework.
  app.set('query parser', false);
  app.use(requestPipeline(parts));
  app.use(answerFailure(parts.logger));
  return app;
}

function answerFailure(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (error instanceof RequestAbortedError) return;
    if (response.headersSent) {
      next(error);
      return;
    }
    const context: unknown = response.locals['context'];
    const known = context instanceof RequestContext ? context : undefined;
    const options = { pretty: known?.prettyProblem ?? false, head: request.method === 'HEAD' };
    // What was not read of the body cannot be told from the next request.
    if (known !== undefined && (known.expect !== 'none' || known.received.cutOff)) response.set('connection', 'close');
    const problem = toProblem(error);
    if (problem !== undefined) {
      sendProblem(response, problem, options);
      return;
    }
    logger.error(`Request failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    response.status(500).type('application/problem+json').end(JSON.stringify(UNCAUGHT));
  };
}

function toProblem(error: unknown): ProblemError | undefined {
  if (error instanceof ProblemError) return error;
  if (error instanceof ApiError) return error.toProblem();
  return undefined;
}
