/** Product name as clients see it: `server` header, titles, token audience. */
export const PRODUCT_NAME = 'Security Manager';

/** Title of the API (`GET /`) and audience of its tokens (rest-api.md 2.2). */
export const API_TITLE = `${PRODUCT_NAME} API REST`;

/** Issuer of the tokens (rest-api.md 2.2). */
export const TOKEN_ISSUER = 'security-manager';
