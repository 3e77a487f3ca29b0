terraform {
  backend "local" {}
}

variable "environment" {
  type = string
}

# terraform_data is built into terraform and tofu: it needs no provider and makes nothing outside of the state.
resource "terraform_data" "network" {
  input = var.environment
}

output "api_url" {
  value = "https://api.${terraform_data.network.output}.example.test"
}
