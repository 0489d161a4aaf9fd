# One image for web, the console, the loop, Celery and beat: dependencies and documentation are built in stages of their own, and copied into one
# without compilers.
# To pin the base image to its bytes: docker buildx imagetools inspect python:3.11.16-slim-trixie, and append the digest.
FROM python:3.11.16-slim-trixie AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
COPY requirements/base.txt /tmp/base.txt
RUN /opt/venv/bin/pip install --require-hashes -r /tmp/base.txt

FROM python:3.11.16-slim-trixie AS app
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 DJANGO_SETTINGS_MODULE=config.settings
RUN useradd --system --uid 10001 --no-create-home sweepapi
COPY --from=build /opt/venv /opt/venv
WORKDIR /app
COPY manage.py ./
COPY config config
COPY sweepapi sweepapi
COPY partners partners
COPY ledger ledger
COPY sweeps sweeps
COPY indexer indexer
COPY console console
# The runbook, which the console serves.
COPY docs/runbook docs/runbook
COPY docs/configuration.md docs/architecture.md docs/
COPY ops/prometheus/alerts.yml ops/prometheus/alerts.yml
# Who may do what on the contracts, which the service compares chains with.
COPY contracts/roles.json contracts/roles.json

# What the reference in the documentation is made of.
FROM app AS document
RUN DATABASE_URL=postgres://localhost/none ALLOWED_HOSTS=localhost python manage.py openapi > /openapi.json

# The documentation for partners; of this stage only the files stay.
FROM node:24.19.0-trixie-slim AS docs
WORKDIR /app/docs/site
COPY docs/site/package.json docs/site/package-lock.json docs/site/.npmrc ./
RUN npm ci
COPY docs/site ./
COPY sweepapi/static/sweepapi/icon /app/sweepapi/static/sweepapi/icon
COPY --from=document /openapi.json /app/var/openapi.json
RUN npx astro build --silent

FROM app
COPY --from=docs /app/var/docs var/docs
# Static files are part of the image.
RUN DJANGO_SETTINGS_MODULE=config.console.settings python manage.py collectstatic --noinput
USER sweepapi
# 8001 is for HEALTH_BIND.
EXPOSE 8000 8001
# compose.yaml has the commands of the loop, Celery and beat.
CMD ["gunicorn", "--config", "python:config.gunicorn", "config.wsgi"]
