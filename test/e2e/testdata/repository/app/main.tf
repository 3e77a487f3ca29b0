terraform {
  backend "http" {}
}

variable "api_url" {
  type = string
}

resource "terraform_data" "app" {
  input = var.api_url
}

output "seen" {
  value = terraform_data.app.output
}
