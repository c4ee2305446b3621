import { Controller, Get } from '@nestjs/common';
import { Endpoint } from '../http/endpoint.js';
import { AuthContext } from './auth-context.js';
import { Auth } from './auth.decorator.js';
import { authContextView } from './auth.view.js';

@Controller('v1/auth')
export class AuthController {
  @Get('context')
  @Endpoint({ policy: 'metadata_read', scopes: 'any' })
  context(@Auth() auth: AuthContext) {
    return authContextView(auth);
  }
}
