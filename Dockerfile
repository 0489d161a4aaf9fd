# One image for web, the loop, Celery and beat: dependencies and documentation are built in stages of their own, and copied into one
# without compilers.
# To pin the base image to its bytes: docker buildx imagetools inspect python:3.11.16-slim-trixie, and append the digest.
FROM python:3.11.16-slim-trixie AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
COPY requirements/base.txt /tmp/base.txt
RUN /opt/venv/bin/pip install --require-hashes -r /tmp/base.txt

# What the reference in the documentation is made of.
FROM build AS document
WORKDIR /app
COPY manage.py ./
COPY config config
COPY sweepapi sweepapi
COPY partners partners
COPY ledger ledger
COPY sweeps sweeps
COPY indexer indexer
RUN DATABASE_URL=postgres://localhost/none ALLOWED_HOSTS=localhost /opt/venv/bin/python manage.py openapi > /openapi.json

# The documentation for partners; of this stage only the files stay.
FROM node:24.19.0-trixie-slim AS docs
WORKDIR /docs/site
COPY docs/site/package.json docs/site/package-lock.json docs/site/.npmrc ./
RUN npm ci
COPY docs/site ./
COPY --from=document /openapi.json /openapi.json
RUN OPENAPI_FILE=/openapi.json npx astro build --silent --outDir /built

FROM python:3.11.16-slim-trixie
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
# Who may do what on the contracts, which the service compares chains with.
COPY contracts/roles.json contracts/roles.json
COPY --from=docs /built var/docs
# Static files are part of the image.
RUN python manage.py collectstatic --noinput
USER sweepapi
# 8001 is for HEALTH_BIND.
EXPOSE 8000 8001
# compose.yaml has the commands of the loop, Celery and beat.
CMD ["gunicorn", "--config", "python:config.gunicorn", "config.wsgi"]
